"""Addresses of runs."""

from django.urls import path

from webapp.runs import views

app_name = "runs"
urlpatterns = [
    path("", views.index, name="list"),
    path("launch/", views.launch, name="launch"),
    path("launch/preview", views.preview, name="preview"),
    path("launch/slots", views.slots, name="slots"),
]
