"""Addresses of nodes."""

from django.urls import path

from webapp.nodes import views

app_name = "nodes"
urlpatterns = [
    path("", views.index, name="list"),
    path("join-token", views.join_token, name="join_token"),
    path("<str:uid>/drain", views.drain, name="drain"),
    path("<str:uid>/remove", views.remove, name="remove"),
]
