"""`mooring prompt SERVER NAME`: fills in a prompt and prints its messages."""

import sys
from typing import Any

import click

from mooring.cli.adhoc import label_server, make_setup, require_words, run_with_host
from mooring.cli.base import Globals, print_json
from mooring.cli.ticker import Ticker
from mooring.core.protocol.result import FilledPrompt
from mooring.display.results import block_as_text, prompt_as_data
from mooring.display.text import safe, safe_text
from mooring.verbs.use.offers import fill_prompt


def run(options: Globals, words: tuple[str, ...], **server: Any) -> None:
    """Fill in a prompt and show its messages."""
    setup = make_setup(options, server)
    name, prompt, *arguments = require_words(setup, words, "PROMPT", "prompts")
    with Ticker(options, label_server(server, name)):
        filled = run_with_host(
            setup,
            lambda host, deadline: fill_prompt(host, name, prompt, arguments, deadline),
            named=name,
        )
    if options.json:
        print_json(prompt_as_data(name, filled))
    elif filled.messages:
        _print(filled)
    elif not options.quiet:
        click.echo(f"{safe(name)}'s prompt {safe(prompt)} has no messages.", err=True)


def _print(filled: FilledPrompt) -> None:
    for message in filled.messages:
        text = block_as_text(message.content)
        click.echo(click.style(f"{safe(message.role)}:", bold=True))
        click.echo(safe_text(text) if sys.stdout.isatty() else text.encode())
