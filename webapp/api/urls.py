"""Addresses of the HTTP API."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
