"""Addresses of invitations."""

from django.urls import path

from webapp.invitations import views

app_name = "invitations"
urlpatterns = [
    path("projects/<slug:slug>/invitations/", views.of_project, name="of_project"),
    path("invitations/", views.of_site, name="of_site"),
    path("invitations/<int:pk>/revoke", views.revoke, name="revoke"),
    path("invitations/<str:secret>/", views.show, name="show"),
]
