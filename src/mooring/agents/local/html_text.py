"""The text of an HTML page, in time that grows with its length alone, whatever the page is made of.

The standard library's parser takes the square of the length for some pages that a hostile server can write.
"""

import re
from html import unescape

_HIDDEN = frozenset({"script", "style", "noscript", "template", "svg", "head", "iframe", "textarea", "select"})
_BLOCKS = frozenset(
    {
        "p", "div", "section", "article", "header", "footer", "main", "nav", "aside", "ul", "ol", "table", "tr", "pre",
        "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "br", "hr", "form", "figure", "dl", "dt", "dd", "title",
    }
)  # fmt: skip
_TAG_NAME = re.compile(r"/?([a-zA-Z][a-zA-Z0-9]*)")
_LINK = re.compile(r"""\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
LONGEST_LINK = 500


def extract_text(html: str) -> str:
    """What a person would read of a page, line by line, with the addresses of links in parentheses."""
    return _tidy("".join(_Scanner(html).scan()))


class _Scanner:
    """One pass over a page. Each search either moves on or is the last one of its kind."""

    def __init__(self, html: str) -> None:
        self._html = html
        self._lower = html.lower()
        self._at = 0
        self._link = ""
        self._parts: list[str] = []

    def scan(self) -> list[str]:
        while self._at < len(self._html):
            start = self._html.find("<", self._at)
            if start < 0:
                start = len(self._html)
            if start > self._at:
                self._parts.append(unescape(self._html[self._at : start]))
            self._at = start
            if start < len(self._html):
                self._read_markup()
        return self._parts

    def _read_markup(self) -> None:
        if self._html.startswith("<!--", self._at):
            self._skip_past("-->")
            return
        name = _TAG_NAME.match(self._html, self._at + 1)
        if name is None and self._html[self._at + 1 : self._at + 2] not in ("!", "?"):
            # A bare `<`, as in `a < b`.
            self._parts.append("<")
            self._at += 1
            return
        start = self._at
        self._skip_past(">")
        if name is not None:
            self._read_tag(name[1].lower(), self._html[start : self._at])

    def _read_tag(self, name: str, tag: str) -> None:
        is_end = tag.startswith("</")
        if name in _HIDDEN and not is_end and not tag.endswith("/>"):
            self._skip_past(f"</{name}")
            self._skip_past(">")
        elif name in _BLOCKS:
            self._parts.append("\n")
        elif name == "li" and not is_end:
            self._parts.append("\n- ")
        elif name in ("td", "th") and is_end:
            self._parts.append("\t")
        elif name == "a":
            self._read_link(tag, is_end)

    def _read_link(self, tag: str, is_end: bool) -> None:
        if is_end and self._link:
            self._parts.append(f" ({self._link})")
        found = None if is_end else _LINK.search(tag[: 4 * LONGEST_LINK])
        address = unescape(next(filter(None, found.groups()), "")) if found else ""
        self._link = (
            address if address.startswith(("http://", "https://", "/")) and len(address) <= LONGEST_LINK else ""
        )

    def _skip_past(self, end: str) -> None:
        """Move behind the next occurrence; to the end of the page if there is none."""
        found = self._lower.find(end, self._at)
        self._at = len(self._html) if found < 0 else found + len(end)


def _tidy(text: str) -> str:
    lines = [re.sub(r"[^\S\n]+", " ", line).strip() for line in text.split("\n")]
    # No more than one empty line in a row.
    kept = [line for index, line in enumerate(lines) if line or (index and lines[index - 1])]
    return "\n".join(kept).strip()
