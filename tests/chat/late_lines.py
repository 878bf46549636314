"""A program: a terminal on which something is said while the line that was asked for is not drawn yet.

What was typed in earlier chats is added to the editor of lines before the first one is drawn, and here that is much.
"""

import asyncio

from mooring.chat.plain.terminal import Terminal


async def ask(terminal: Terminal) -> None:
    line = asyncio.create_task(terminal.read_line("> ", keep=True))
    await asyncio.sleep(0)  # it was asked for
    terminal.say("late")
    terminal.say(f"got {await line}")


if __name__ == "__main__":
    terminal = Terminal()
    terminal.history = [f"line {number}" for number in range(40_000)]
    terminal.run(ask(terminal))
