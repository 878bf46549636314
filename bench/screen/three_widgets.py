"""The least that a chat in Textual could be: something said, a line to type into, and a status line."""

import asyncio

from textual.app import App, ComposeResult
from textual.widgets import Input, Static


class ThreeWidgets(App[None]):
    CSS = "#said { height: 1fr; }"

    def compose(self) -> ComposeResult:
        yield Static("Nothing was said yet.", id="said")
        yield Input()
        yield Static("ready")


if __name__ == "__main__":
    asyncio.run(ThreeWidgets().run_async())
