from django.apps import AppConfig


class NodesConfig(AppConfig):
    name = "webapp.nodes"
    label = "nodes"
