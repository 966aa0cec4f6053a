"""``help`` and ``completion``: the commands and options, for people and for shells."""

from __future__ import annotations

import click

from .context import say


@click.command()
@click.argument("names", nargs=-1, metavar="[COMMAND]...")
@click.pass_context
def help(ctx: click.Context, names: tuple[str, ...]) -> None:  # noqa: A001 - a command is the function of its name
    """Show the help of COMMAND, as of "config set"; without one, what commands there are."""
    root = ctx.find_root().command
    path = "openclaw-memory"
    ctx.exit(root.main([*names, "--help"], prog_name=path, standalone_mode=False) or 0)


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that makes SHELL complete commands and options; it changes nothing by itself.

    \b
      openclaw-memory completion bash >> ~/.bashrc
      openclaw-memory completion zsh >> ~/.zshrc
      openclaw-memory completion fish > ~/.config/fish/completions/openclaw-memory.fish
    """
    from click.shell_completion import get_completion_class

    root, kind = ctx.find_root().command, get_completion_class(shell)
    assert kind is not None
    say(click.shell_completion.ShellComplete.source(kind(root, {}, "openclaw-memory", "_OPENCLAW_MEMORY_COMPLETE")))
