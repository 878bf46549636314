"""The tools of a conversation in agent frameworks: one module per framework, each behind the extra of its name.

Import the module itself, for example `mooring.adapters.pydantic_ai`; nothing here loads a framework.
"""

from mooring.files.installation import spell_install


def explain_import(error: ImportError, extra: str) -> ImportError:
    """The same error with the command that installs what an adapter needs."""
    # Without the name of the module: from Python 3.15 on, a similar one that is installed would be suggested behind it.
    return type(error)(f"{error}. Install what this adapter needs: {spell_install(extra)}")
