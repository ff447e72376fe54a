"""Addresses of what explains a slow or stuck job."""

from django.urls import path

from webapp.incidents import acts, autopsy_views, dump_views, views

app_name = "incidents"
urlpatterns = [
    path("incidents/", views.index, name="list"),
    path("incidents/<int:pk>/", views.detail, name="detail"),
    path("incidents/<int:pk>/panels", views.panels, name="panels"),
    path("incidents/<int:pk>/acknowledge", acts.acknowledge, name="acknowledge"),
    path("incidents/<int:pk>/assign", acts.assign, name="assign"),
    path("incidents/<int:pk>/cause", acts.confirm, name="confirm"),
    path("incidents/<int:pk>/comment", acts.comment, name="comment"),
    path("incidents/<int:pk>/close", acts.close, name="close"),
    path("runs/<str:uid>/autopsy", autopsy_views.ask, name="ask"),
    path("autopsies/<int:pk>/", autopsy_views.detail, name="autopsy"),
    path("dumps/", dump_views.dumps, name="dumps"),
]
