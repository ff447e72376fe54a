"""`python -m workers.ingest`: one ingest process. Start as many as there is work for."""

import os
import signal
import threading

import django


def main() -> None:
    """Until SIGTERM or SIGINT."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    django.setup()
    from workers.ingest.loop import Ingest

    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    Ingest().run(stop)


if __name__ == "__main__":
    main()
