"""What the screen writes to a terminal that is gone by then."""

import os
import threading

from textual.drivers._writer_thread import WriterThread

from mooring.chat.screen.driver import TerminalOutput

MANY = 200
"""More than Textual queues."""


def test_nothing_waits_for_a_terminal_that_is_gone() -> None:
    master, slave = os.openpty()
    with open(slave, "w", encoding="utf-8", closefd=False) as out:
        writer = WriterThread(TerminalOutput(out))  # type: ignore[arg-type]  # all that it uses is there
        writer.start()
        os.close(master)
        drawing = threading.Thread(target=draw_much, args=(writer,), daemon=True)
        drawing.start()
        drawing.join(30)
        assert not drawing.is_alive()
        assert not writer.is_alive()
        os.dup2(os.open(os.devnull, os.O_WRONLY), slave)  # for what is left in the buffer
    os.close(slave)


def draw_much(writer: WriterThread) -> None:
    for number in range(MANY):
        writer.write(f"line {number} {'x' * 10_000}\n")
    writer.stop()
