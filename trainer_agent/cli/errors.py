"""What goes wrong for a person at the command line: one clear sentence on standard error, never a traceback.

Refused          click.ClickException, exit code 1
  NotReached     the server did not answer; worth another try
"""

from typing import IO, Any

import click


class Refused(click.ClickException):
    """The sentence, then one indented line for each field that the server named."""

    def __init__(self, sentence: str, fields: dict[str, str] | None = None) -> None:
        super().__init__("\n".join([sentence, *(f"  {name}: {text}" for name, text in (fields or {}).items())]))

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"paceline: {self.format_message()}", err=True)


class NotReached(Refused):
    """The server did not answer."""
