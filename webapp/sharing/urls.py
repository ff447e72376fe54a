"""Addresses of sharing: the dialog of a run's editors, and what stands below each link."""

from django.urls import path

from webapp.sharing import shared, views

app_name = "sharing"
urlpatterns = [
    path("runs/<str:uid>/links", views.links, name="links"),
    path("runs/<str:uid>/links/<int:pk>/revoke", views.revoke, name="revoke"),
    path("s/<str:token>/", shared.page, name="page"),
    path("s/<str:token>/header", shared.header, name="header"),
    path("s/<str:token>/ledger", shared.ledger, name="ledger"),
    path("s/<str:token>/panels", shared.panels, name="panels"),
    path("s/<str:token>/keys", shared.keys, name="keys"),
    path("s/<str:token>/logs", shared.logs, name="logs"),
    path("s/<str:token>/live", shared.live, name="live"),
]
