"""Bring the database of one home up to date; a step of `up`."""

from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, call_command

from webapp.supervisor import first_login, local_nodes, packed_static
from webapp.supervisor.home import Home


class Command(BaseCommand):
    help = (
        "Migrate, pack static files, make the first login and admit the local nodes of PACELINE_HOME. `up` calls this."
    )
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        call_command("migrate", interactive=False, verbosity=1)
        packed_static.ensure()
        home = Home(settings.HOME_DIR)
        first_login.ensure(home)
        local_nodes.ensure(home, settings.LOCAL_NODES, settings.PUBLIC_URL, settings.NODE_REDIS_URL)
