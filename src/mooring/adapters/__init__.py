"""The tools of a conversation in agent frameworks: one module per framework, each behind the extra of its name.

Import the module itself, for example `mooring.adapters.pydantic_ai`; nothing here loads a framework.
"""


def explain_import(error: ImportError, extra: str) -> ImportError:
    """The same error with the command that installs what an adapter needs."""
    message = f"{error}. Install what this adapter needs: pip install 'mooring[{extra}]'"
    return type(error)(message, name=error.name, path=error.path)
