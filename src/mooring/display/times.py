"""Times as they are shown: always on the user's own clock, always in one form."""

from datetime import datetime

from mooring.display.text import safe


def format_local(moment: datetime | str) -> str:
    """A time, or its ISO form, on the user's own clock; what is not a time is shown as it is."""
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment)
        except ValueError:  # written by another program
            return safe(str(moment))
    return moment.astimezone().strftime("%Y-%m-%d %H:%M:%S")
