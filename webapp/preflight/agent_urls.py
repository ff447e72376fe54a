"""Addresses that agents call during a check."""

from django.urls import path

from webapp.preflight import agent_views

app_name = "agent-checks"
urlpatterns = [
    path("<int:pk>/opened", agent_views.opened, name="opened"),
    path("<int:pk>/measured", agent_views.measured, name="measured"),
]
