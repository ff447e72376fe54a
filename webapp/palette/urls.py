"""Addresses of the palette."""

from django.urls import path

from webapp.palette import views

app_name = "palette"
urlpatterns = [path("palette/find", views.find, name="find")]
