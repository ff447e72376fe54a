"""Addresses of the audit log."""

from django.urls import path

from webapp.audit import views

app_name = "audit"
urlpatterns = [
    path("audit/", views.everything, name="everything"),
    path("projects/<slug:slug>/audit/", views.of_project, name="of_project"),
]
