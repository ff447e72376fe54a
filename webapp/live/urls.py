"""Addresses of live."""

from django.urls import path

from webapp.live import views

app_name = "live"
urlpatterns = [
    path("live/runs/<str:uid>", views.run, name="run"),
    path("live/list", views.runs, name="list"),
]
