"""The Celery application. Tasks live in `workers/`; the web process sends them by name (`queue.py`)."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

app = Celery("paceline")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.imports = ("workers.dispatch", "workers.housekeeping", "workers.alive")
