"""``completion``: what a shell needs to complete our commands and options."""

from __future__ import annotations

import click

from .context import say


@click.command(short_help="Print what makes bash, zsh or fish complete commands.")
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
