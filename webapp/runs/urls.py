"""Addresses of runs."""

from django.urls import path

from webapp.runs import config_views, launch_views, ledger_views, log_views, panel_views, run_views, views

app_name = "runs"
urlpatterns = [
    path("", views.index, name="list"),
    path("launch/", launch_views.launch, name="launch"),
    path("launch/preview", launch_views.preview, name="preview"),
    path("launch/slots", launch_views.slots, name="slots"),
    path("runs/<str:uid>/", run_views.detail, name="detail"),
    path("runs/<str:uid>/header", run_views.header, name="header"),
    path("runs/<str:uid>/config", config_views.config, name="config"),
    path("runs/<str:uid>/ledger", ledger_views.ledger, name="ledger"),
    path("runs/<str:uid>/panels", panel_views.panels, name="panels"),
    path("runs/<str:uid>/keys", panel_views.keys, name="keys"),
    path("runs/<str:uid>/logs", log_views.lines, name="logs"),
    path("runs/<str:uid>/logs/raw", log_views.raw, name="raw_log"),
    path("runs/<str:uid>/stop", run_views.stop, name="stop"),
    path("runs/<str:uid>/delete", run_views.delete, name="delete"),
]
