"""Print one-time tokens, each of which admits a node."""

from argparse import ArgumentParser

from django.core.management.base import BaseCommand

from webapp.nodes.enrol import issue_join_token


class Command(BaseCommand):
    help = "Print tokens for `paceline join`: each admits one machine, once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--minutes", type=int, default=60, help="how long it may be used (60)")
        parser.add_argument("--count", type=int, default=1, help="how many, one a line (1)")

    def handle(self, *args: object, minutes: int, count: int, **options: object) -> None:
        for _number in range(count):
            self.stdout.write(issue_join_token(None, minutes))
