"""Addresses that agents call."""

from django.urls import URLPattern

app_name = "agent"
urlpatterns: list[URLPattern] = []
