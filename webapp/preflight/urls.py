"""Addresses of checks, below those of nodes."""

from django.urls import path

from webapp.preflight import views

app_name = "preflight"
urlpatterns = [
    path("", views.index, name="index"),
    path("<int:pk>/", views.detail, name="detail"),
]
