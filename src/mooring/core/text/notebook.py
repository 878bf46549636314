"""How results look in a notebook: text that cannot become markup, and images only of kinds that cannot run anything."""

from binascii import Error, a2b_base64
from collections.abc import Iterable, Sequence

# No SVG: it is markup, and may hold scripts.
IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def describe_size(data: str) -> str:
    """How much a Base64 text holds, roughly."""
    size = len(data) * 3 // 4
    return f"{size} bytes" if size < 1024 else f"{size // 1024} KB"


def shorten(text: str, most: int = 80) -> str:
    """A text in quotes, on one line and not too long: its beginning, and how much is left."""
    if len(text) <= most:
        return repr(text)
    return f"{text[:most]!r}… ({len(text):,} characters)"


def is_displayable(mime_type: str, data: str) -> bool:
    """Whether this is an image that a notebook can show and that is nothing else."""
    if mime_type not in IMAGE_TYPES:
        return False
    try:
        a2b_base64(data, strict_mode=True)
    except (Error, ValueError):
        return False
    return True


def escape_markup(text: str) -> str:
    """The text as HTML shows it, quotes too."""
    from html import escape  # lazy: only a notebook needs it

    return escape(text, quote=True)


def make_text(text: str) -> str:
    """A paragraph of HTML that shows the text as it is, line by line."""
    return f'<pre style="white-space: pre-wrap; text-align: left">{escape_markup(text)}</pre>'


def make_image(mime_type: str, data: str) -> str:
    """An image as HTML, if it is displayable."""
    return f'<img src="data:{mime_type};base64,{data}">'


def make_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as HTML, with everything in it escaped."""
    head = "".join(f"<th>{escape_markup(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{_make_cells(row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _make_cells(row: Sequence[str]) -> str:
    return "".join(f'<td style="text-align: left">{escape_markup(cell)}</td>' for cell in row)
