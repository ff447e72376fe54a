"""Addresses of exports."""

from django.urls import path

from webapp.exports import views

app_name = "exports"
urlpatterns = [
    path("runs/<str:uid>/exports/", views.of_run, name="of_run"),
    path("exports/<str:export>/file", views.file, name="file"),
]
