"""The Celery application. Tasks live in `workers/`; the web process sends them by name (`queue.py`)."""

import os

from celery import Celery
from kombu.transport import redis as kombu_redis

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
# Django's checks read the code of every page, which neither worker nor beat serves: a third of their start.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery("paceline")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.imports = (
    "workers.dispatch",
    "workers.housekeeping",
    "workers.watch",
    "workers.notify",
    "workers.mentions",
    "workers.sweeps",
    "workers.exports",
    "workers.alive",
)

# When Redis goes away, kombu would put unfinished messages back over the connection that it has just lost, fail at it
# and end the worker. Messages are hints here: what is lost is found by the sweep.
kombu_redis.Channel.do_restore = False
