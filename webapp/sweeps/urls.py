"""Addresses of sweeps."""

from django.urls import path

from webapp.sweeps import views

app_name = "sweeps"
urlpatterns = [
    path("sweeps/", views.index, name="list"),
    path("sweeps/new/", views.new, name="new"),
    path("sweeps/<str:uid>/", views.detail, name="detail"),
    path("sweeps/<str:uid>/chart", views.chart, name="chart"),
    path("sweeps/<str:uid>/stop", views.stop, name="stop"),
]
