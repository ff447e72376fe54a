from django.apps import AppConfig


class TelemetryConfig(AppConfig):
    name = "webapp.telemetry"
    label = "telemetry"
