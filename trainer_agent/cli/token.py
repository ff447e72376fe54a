"""`paceline token`: your API tokens."""

import click

from trainer_agent.cli.output import age, json_option, print_json, table, wants_json
from trainer_agent.cli.server import server


@click.group()
def token() -> None:
    """Your API tokens."""


@token.command("ls")
@json_option
def list_tokens() -> None:
    """List your tokens; their secrets are not kept anywhere."""
    found = server().get("/tokens")
    if wants_json():
        print_json(found)
        return
    rows = [
        (t["id"], t["name"], t["scope"], age(t["created_at"]), age(t["last_used_at"]), t["expires_at"]) for t in found
    ]
    table(("ID", "NAME", "SCOPE", "AGE", "LAST USED", "EXPIRES"), rows, right=("ID",))


@token.command("create")
@click.argument("name")
@click.option("--scope", type=click.Choice(["read", "write", "admin"]), default="write", show_default=True)
@click.option("--days", type=click.IntRange(1, 3650), help="Until it expires; never when left out.")
@json_option
def create_token(name: str, scope: str, days: int | None) -> None:
    """Make a token and print its secret, this once."""
    made = server().post("/tokens", {"name": name, "scope": scope, "days": days})
    print_json(made) if wants_json() else click.echo(made["token"])


@token.command("revoke")
@click.argument("token_id", type=int)
@json_option
def revoke_token(token_id: int) -> None:
    """Make a token useless at once."""
    server().delete(f"/tokens/{token_id}")
    print_json({"revoked": token_id}) if wants_json() else click.echo(f"Token {token_id} is revoked.")
