from django.apps import AppConfig

from webapp.telemetry import freed_memory


class TelemetryConfig(AppConfig):
    name = "webapp.telemetry"
    label = "telemetry"

    def ready(self) -> None:
        freed_memory.keep()
