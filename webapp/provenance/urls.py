"""Addresses of provenance."""

from django.urls import path

from webapp.provenance import views

app_name = "provenance"
urlpatterns = [
    path("runs/<str:uid>/provenance", views.part, name="part"),
    path("runs/<str:uid>/diff", views.diff, name="diff"),
]
