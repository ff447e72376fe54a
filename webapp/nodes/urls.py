"""Addresses of nodes."""

from django.urls import URLPattern

app_name = "nodes"
urlpatterns: list[URLPattern] = []
