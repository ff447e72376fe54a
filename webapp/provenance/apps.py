from django.apps import AppConfig


class ProvenanceConfig(AppConfig):
    name = "webapp.provenance"
    label = "provenance"
