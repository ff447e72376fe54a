"""The console script `paceline`: all commands, and the outermost place where an error becomes a sentence."""

import click

from trainer_agent.cli import errors
from trainer_agent.cli.artifact import artifact
from trainer_agent.cli.attach import attach
from trainer_agent.cli.export import export
from trainer_agent.cli.import_command import import_group
from trainer_agent.cli.incidents import incidents
from trainer_agent.cli.join import join
from trainer_agent.cli.login import login
from trainer_agent.cli.logs import logs
from trainer_agent.cli.metrics import metrics
from trainer_agent.cli.nodes import drain, nodes, undrain
from trainer_agent.cli.output import json_option
from trainer_agent.cli.preflight import preflight
from trainer_agent.cli.runs import ls, show, stop
from trainer_agent.cli.submit import submit
from trainer_agent.cli.sweep import sweep
from trainer_agent.cli.token import token
from trainer_agent.cli.wait import wait


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@json_option
def paceline() -> None:
    """Launch and watch distributed training. The server is PACELINE_URL, or the one of `paceline login`."""


RUNS = (submit, sweep, attach, ls, show, wait, stop, logs, metrics, incidents, export, import_group, artifact)
NODES = (join, nodes, preflight, drain, undrain)
for command in (login, token, *RUNS, *NODES):
    paceline.add_command(command)


def main() -> None:
    """Run the command that the arguments name; the exit code is 0 only for success."""
    try:
        paceline.main(prog_name="paceline")
    except OSError as error:
        errors.Refused(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}.").show()
        raise SystemExit(1) from None
