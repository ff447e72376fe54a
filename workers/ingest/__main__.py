"""`python -m workers.ingest`: one ingest process. Start as many as there is work for."""

import gc
import os
import signal
import threading

import django

_YOUNG = 20_000  # objects between two looks for cycles: those of a round of messages hold none, and go with the round


def main() -> None:
    """Until SIGTERM or SIGINT."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    django.setup()
    from workers.ingest.loop import Ingest

    gc.freeze()  # what was loaded so far stays, and need not be looked through again and again
    gc.set_threshold(_YOUNG)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    Ingest().run(stop)


if __name__ == "__main__":
    main()
