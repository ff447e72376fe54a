"""`paceline login`: keep a server's address and a token for later commands."""

import click

from trainer_agent.cli import login_file
from trainer_agent.cli.login_file import Login
from trainer_agent.cli.output import json_option, print_json, wants_json
from trainer_agent.cli.server import Server


@click.command()
@click.argument("url", envvar="PACELINE_URL")
@click.option("--token", envvar="PACELINE_TOKEN", help="Asked for when left out.")
@json_option
def login(url: str, token: str | None) -> None:
    """Save a server and your API token.

    The token comes from the page “API tokens”; both are kept in a file that only you can read.
    """
    if not token:
        token = click.prompt("API token", hide_input=True, err=True)
    wanted = Login(url.rstrip("/"), token.strip())
    me = Server(wanted).get("/me")
    path = login_file.save(wanted)
    if wants_json():
        print_json({"url": wanted.url, "username": me["username"], "file": str(path)})
    else:
        click.echo(f"Logged in to {wanted.url} as {me['username']}.")
