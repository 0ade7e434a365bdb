"""`ringbolt token`: the tokens of the server, what each may do, and when it was last used."""

from __future__ import annotations

from typing import Any

import click

from ....model.capabilities import ACCESS, POWERS
from ...http import auth
from ..command import Command, Group
from ..console import answer, common_values, line, require_user, table

EXPIRES = click.option("--expires", metavar="DURATION", help="How long it is valid, such as 90d.")


@click.command("list", cls=Command, examples=("ringbolt token list",))
def list_command() -> None:
    """List every token without its secret: what it may do, its expiry and its last use."""
    tokens = [token.to_dict() for token in auth.list_tokens()]
    answer(tokens, _show_tokens)


@click.command(
    "create",
    cls=Command,
    examples=(
        "ringbolt token create ci --access read --expires 30d",
        "ringbolt token create coder ~/code/shop --allow files,egress",
    ),
)
@click.argument("name")
@click.argument("folders", metavar="[FOLDER]...", nargs=-1)
@click.option(
    "--access", type=click.Choice(list(ACCESS)), default="write", show_default=True, help="What it may do."
)
@click.option("--every-workspace", is_flag=True, help="Let it see the tasks of all workspaces.")
@click.option("--allow", metavar="POWERS", default="", help=f"What it may look at: {', '.join(POWERS)}.")
@EXPIRES
def create_command(
    name: str, access: str, folders: tuple[str, ...], every_workspace: bool, allow: str, expires: str | None
) -> None:
    """Create the token NAME and print its secret, which is shown only now.

    It is bound to the workspaces of the folders you name, by default that of the current folder. A token of
    access admin acts as you, all others as an agent.
    """
    require_user("token create")
    if folders and every_workspace:
        raise click.UsageError("Name folders or pass --every-workspace, not both.")
    bound = folders or (common_values().get("workspace") or ".",)
    powers = [power.strip() for power in allow.split(",") if power.strip()]
    secret = auth.create_token(
        name, access=access, workspaces=None if every_workspace else bound, powers=powers, expires=expires
    )
    answer({"name": name, "secret": secret}, lambda data: click.echo(data["secret"]))


@click.command("rotate", cls=Command, examples=("ringbolt token rotate ci",))
@click.argument("name")
@EXPIRES
def rotate_command(name: str, expires: str | None) -> None:
    """Replace the secret of the token NAME and print the new one; the old one is refused at once."""
    require_user("token rotate")
    secret = auth.rotate_token(name, expires=expires)
    answer({"name": name, "secret": secret}, lambda data: click.echo(data["secret"]))


@click.command("revoke", cls=Command, examples=("ringbolt token revoke ci",))
@click.argument("name")
def revoke_command(name: str) -> None:
    """End the token NAME at once.

    The tokens read, write and user come back with `token rotate`.
    """
    require_user("token revoke")
    auth.revoke_token(name)
    answer({"name": name}, lambda _: click.echo(f"{line(name)} is revoked."))


def _show_tokens(tokens: list[dict[str, Any]]) -> None:
    cells = [
        (
            token["name"],
            token["access"],
            "all" if token["workspaces"] is None else ", ".join(token["workspaces"]),
            ", ".join(token["powers"]) or "-",
            "expired" if token["expired"] else token["expires_at"] or "never",
            token["last_used_at"] or "never",
        )
        for token in tokens
    ]
    table(("NAME", "ACCESS", "WORKSPACES", "MAY LOOK AT", "EXPIRES", "LAST USED"), cells)


token_command = Group(
    "token",
    help="Manage the tokens with which programs call `ringbolt serve`.\n\n"
    "The tokens read, write and user are always there. Others get only what you allow here. A running server"
    " follows every change at once. Only the user may change tokens: from a script, add --as-user.",
    examples=("ringbolt token list", "ringbolt token create coder ~/code/shop"),
    commands=[list_command, create_command, rotate_command, revoke_command],
)
