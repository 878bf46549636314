"""The shell of OpenCode's commands: a program of its own that runs a command only if it was permitted.

It has no other module of Mooring, and Python starts it without its libraries: it must be quick. Its arguments are the
folder of what was permitted, the shell, and `LC_CTYPE` as it was, behind a `=` if it was set; then those of a shell.
"""

import os
import sys

TYPE_CHECKING = False  # type checkers read it as true; `typing` itself takes longer to load than all of this
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal

REFUSAL = (
    "Not run: OpenCode asked no permission for this, as it finds no command in it. "
    "Write it with one, such as `: > file` for `> file`."
)
NOT_EXECUTED = 126
"""What shells exit with if they may not run something."""


def main() -> None:
    """Become the shell, or say why not."""
    folder, shell, locale, *given = sys.argv[1:]
    if len(given) != 2 or given[0] != "-c" or not use_permission(folder, os.fsencode(given[1])):
        sys.stderr.write(f"{REFUSAL}\n")
        sys.exit(NOT_EXECUTED)
    # Python sets it where the locale is C.
    os.environ.pop("LC_CTYPE", None)
    if locale:
        os.environ["LC_CTYPE"] = locale[1:]
    # Python ignores them, and so would the shell.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.execv(shell, [shell, *given])


def use_permission(folder: str, command: bytes) -> bool:
    """Use up a permission for a command in the folder that this runs in; whether there was one."""
    wanted = describe_run(os.getcwdb(), command)
    return any(_use(os.path.join(folder, name), wanted) for name in os.listdir(folder))


def describe_run(place: bytes, command: bytes) -> bytes:
    """What is permitted: a command, as it is, in a folder."""
    return place + b"\0" + command


def _use(path: str, wanted: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            if file.read() != wanted:
                return False
        # Of two that find the same one, the system lets one remove it.
        os.unlink(path)
    except FileNotFoundError:
        return False
    return True


if __name__ == "__main__":
    main()
