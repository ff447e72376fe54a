"""Addresses that agents call."""

from django.urls import path

from webapp.nodes import agent_views

app_name = "agent"
urlpatterns = [
    path("join", agent_views.join, name="join"),
    path("uploads/<str:sha256>", agent_views.upload, name="upload"),
]
