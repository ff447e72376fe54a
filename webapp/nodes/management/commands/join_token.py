"""Print a one-time token that admits a node."""

from argparse import ArgumentParser

from django.core.management.base import BaseCommand

from webapp.nodes.enrol import issue_join_token


class Command(BaseCommand):
    help = "Print a token for `paceline join`: it admits one machine, once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--minutes", type=int, default=60, help="how long it may be used (60)")

    def handle(self, *args: object, minutes: int, **options: object) -> None:
        self.stdout.write(issue_join_token(None, minutes))
