"""A command as people write it into a file: one program, and what it is called with."""


def suggest_args(command: str) -> str:
    """How to write a command that has its arguments in the same text; empty if it has none.

    The most common mistake in a first entry: `"command": "npx -y some-server"`, copied from a shell.
    """
    program, *rest = command.split() or [""]
    if not rest or "/" in program:
        return ""
    import json  # only on the way to an error

    return f'write "command": {json.dumps(program)}, "args": {json.dumps(rest)}'


def suggest_install(file: str = "") -> str:
    """What to do about a program that is not on PATH; `file` is where its server is defined, if that is a file."""
    place = f" in {file}" if file else ""
    return f"install it, or give its full path{place}"
