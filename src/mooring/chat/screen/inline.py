"""Markdown inside a paragraph: bold, emphasis, strike, code and links become pieces."""

import re
from collections.abc import Sequence
from string import punctuation

from msgspec import Struct

from mooring.chat.screen.line import Piece, Role
from mooring.display.text import width

_SPECIAL = re.compile(r"[`*_~\[<&]|\\(?=[!-/:-@\[-`{-~\n])|!\[|https?://")
_LINK = re.compile(
    r"!?\[(?P<text>(?:[^\[\]\\]|\\.|!?\[[^\[\]]*\](?:\([^()\s]*\))?)*)\]"
    r"\(\s*(?:<(?P<quoted>[^<>\n]*)>|(?P<address>[^\s<>()]*(?:\([^\s()]*\)[^\s<>()]*)*))"
    r"(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)"
)
_HALF_LINK = re.compile(r"!?\[(?P<text>[^\[\]]+)\]\([^()\s]*$")
"""A link whose address has only begun."""
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^\s<>]+|[\w.+-]+@[\w.-]+)>")
_ADDRESS = re.compile(r"https?://[^\s<>\"`，。）」、]+")
_ENTITY = re.compile(r"&(amp|lt|gt|quot|apos|nbsp|#39|#x27);")
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'", "nbsp": " ", "#39": "'", "#x27": "'"}
_CAN_OPEN_IN_BROWSER = re.compile(r"https?://|mailto:")
_RUN = {mark: re.compile(re.escape(mark) + "+") for mark in "`*_~"}
_HALF_MARKS = re.compile(r"[*_~`]+$|!?\[$|\\$")
"""At the end of what is still being written: may turn into markup with the next character."""

_MOST_SEARCHED = 50
"""How many unclosed marks are looked back at for a partner: more than anyone leaves open."""


class Mark(Struct):
    """A run of `*`, `_` or `~~` that may begin or end something."""

    index: int
    character: str
    size: int
    left: int
    """How many of its characters have no partner yet."""
    can_open: bool
    can_close: bool


def read_inline(text: str, role: Role = "", *, is_open: bool = False) -> list[Piece]:
    """A text that is safe to show as pieces; `role` is that of plain text.

    If it is open, still being written, what has begun at its end is shown as if it were complete: most of it will be.
    """
    if is_open:
        text = _HALF_MARKS.sub("", text)
    if not _SPECIAL.search(text):
        return [Piece(text, role)] if text else []
    reader = _InlineReader(text, is_open=is_open)
    reader.read()
    return _merge(reader.make_pieces(role))


class _InlineReader:
    """Reads one text: first what stands for itself, then the pairs of marks around it."""

    def __init__(self, text: str, *, is_open: bool, links: bool = True) -> None:
        self._text = text
        self._is_open = is_open
        self._links = links
        self._pieces: list[Piece] = []
        self._marks: list[Mark] = []
        self._unclosed_code: set[int] = set()
        """Lengths of runs of backticks that have no partner further on."""
        self._begins: dict[int, list[Role]] = {}
        self._ends: dict[int, list[Role]] = {}

    def read(self) -> None:
        text = self._text
        place = 0
        while found := _SPECIAL.search(text, place):
            self._add(text[place : found.start()])
            place = self._read_special(found[0], found.start())
        self._add(text[place:])
        self._pair_marks()

    def make_pieces(self, role: Role) -> list[Piece]:
        """The pieces with the roles that pairs of marks give them."""
        left = {mark.index: mark.character * mark.left for mark in self._marks}
        active: list[Role] = []
        made = []
        for index, piece in enumerate(self._pieces):
            for ended in self._ends.get(index, ()):
                active.remove(ended)
            text = left.get(index, piece.text)
            shown: Role = piece.role or _choose_role(active) or role
            if role and shown in ("strong", "emphasis"):
                shown = role
            if text:
                made.append(Piece(text, shown, piece.link))
            active.extend(self._begins.get(index, ()))
        return made

    def _add(self, text: str, role: Role = "", link: str = "") -> None:
        if text:
            self._pieces.append(Piece(text, role, link))

    def _read_special(self, special: str, start: int) -> int:
        """What begins here; returns where the text goes on."""
        match special:
            case "\\":
                return self._read_escape(start)
            case "`":
                return self._read_code(start)
            case "*" | "_" | "~":
                return self._read_mark(special, start)
            case "[" | "![":
                return self._read_link(special, start)
            case "<":
                return self._read_match(_AUTOLINK.match(self._text, start), start)
            case "&":
                return self._read_entity(start)
            case _:
                return self._read_address(special, start)

    def _read_escape(self, start: int) -> int:
        following = self._text[start + 1]
        if following == "\n":
            # It stands for the line break that follows.
            return start + 1
        self._add(following)
        return start + 2

    def _read_code(self, start: int) -> int:
        text = self._text
        size = len(_match_run("`", text, start))
        inside = start + size
        end = -1 if size in self._unclosed_code else _find_run(text, inside, size)
        if end >= 0:
            self._add(_strip_code(text[inside:end]), "code")
            return end + size
        self._unclosed_code.add(size)
        if self._is_open:
            self._add(text[inside:].lstrip(" "), "code")
            return len(text)
        self._add(text[start:inside])
        return inside

    def _read_mark(self, character: str, start: int) -> int:
        text = self._text
        size = len(_match_run(character, text, start))
        end = start + size
        if character == "~" and size != 2:
            self._add(text[start:end])
            return end
        before, after = text[start - 1 : start] or " ", text[end : end + 1] or " "
        opens = not after.isspace() and (after not in punctuation or before.isspace() or before in punctuation)
        closes = not before.isspace() and (before not in punctuation or after.isspace() or after in punctuation)
        if character == "_":
            # Names such as `snake_case` are full of them.
            opens, closes = (
                opens and (not closes or before in punctuation),
                closes and (not opens or after in punctuation),
            )
        if opens or closes:
            self._marks.append(Mark(len(self._pieces), character, size, size, opens, closes))
        self._pieces.append(Piece(text[start:end]))
        return end

    def _read_link(self, special: str, start: int) -> int:
        found = _LINK.match(self._text, start)
        if found is not None and not self._links:
            # A picture that leads somewhere: its address is not the one to open.
            self._add(found["text"])
            return found.end()
        if found is not None:
            address = found["address"] if found["quoted"] is None else found["quoted"]
            self._add_link(found["text"], address)
            return found.end()
        half = _HALF_LINK.match(self._text, start) if self._links and self._is_open else None
        if half is not None:
            self._add_link(half["text"], "")
            return half.end()
        self._add(special)
        return start + len(special)

    def _add_link(self, text: str, address: str) -> None:
        inner = _InlineReader(text, is_open=False, links=False)
        inner.read()
        link = _choose_link(address)
        shown = inner.make_pieces("")
        self._pieces.extend(Piece(piece.text, "code" if piece.role == "code" else "link", link) for piece in shown)
        label = "".join(piece.text for piece in shown)
        if address and address not in (label, f"mailto:{label}"):
            # A label could name another place than the one that it leads to.
            self._add(f" ({address})" if label else address, "dim", link)

    def _read_match(self, found: re.Match[str] | None, start: int) -> int:
        if found is None:
            self._add(self._text[start])
            return start + 1
        address = found[1]
        self._add(address, "link", address if ":" in address else f"mailto:{address}")
        return found.end()

    def _read_entity(self, start: int) -> int:
        found = _ENTITY.match(self._text, start)
        self._add(_ENTITIES[found[1]] if found else "&")
        return found.end() if found else start + 1

    def _read_address(self, special: str, start: int) -> int:
        found = _ADDRESS.match(self._text, start)
        if found is None or not self._links or self._text[start - 1 : start].isalnum():
            self._add(special)
            return start + len(special)
        address = _trim_address(found[0])
        self._add(address, "link", address)
        return start + len(address)

    def _pair_marks(self) -> None:
        openers: list[Mark] = []
        for mark in self._marks:
            if mark.can_close:
                self._close(mark, openers)
            if mark.can_open and mark.left:
                openers.append(mark)
        if self._is_open:
            for mark in openers:
                self._begins.setdefault(mark.index, []).append(_name_role(mark.character, mark.left))
                mark.left = 0

    def _close(self, mark: Mark, openers: list[Mark]) -> None:
        while mark.left:
            place = _find_opener(mark, openers)
            if place is None:
                return
            opener = openers[place]
            used = min(2, opener.left, mark.left)
            role = _name_role(mark.character, used)
            self._begins.setdefault(opener.index, []).append(role)
            self._ends.setdefault(mark.index, []).append(role)
            opener.left -= used
            mark.left -= used
            del openers[place + (1 if opener.left else 0) :]


def _find_opener(mark: Mark, openers: Sequence[Mark]) -> int | None:
    for place in range(len(openers) - 1, max(-1, len(openers) - 1 - _MOST_SEARCHED), -1):
        opener = openers[place]
        if opener.character != mark.character:
            continue
        # CommonMark's rule of three: `**a*b**` is no emphasis inside of another.
        is_ambiguous = opener.can_close or mark.can_open
        if is_ambiguous and (opener.size + mark.size) % 3 == 0 and (opener.size % 3 or mark.size % 3):
            continue
        return place
    return None


def _name_role(character: str, used: int) -> Role:
    if character == "~":
        return "strike"
    return "strong" if used > 1 else "emphasis"


def _choose_role(active: Sequence[Role]) -> Role:
    """The one that is shown where one stands in another."""
    roles: tuple[Role, ...] = ("strike", "strong", "emphasis")
    return next((role for role in roles if role in active), "")


def _choose_link(address: str) -> str:
    return address if _CAN_OPEN_IN_BROWSER.match(address) else ""


def _match_run(character: str, text: str, start: int) -> str:
    found = _RUN[character].match(text, start)
    return found[0] if found else ""


def _find_run(text: str, start: int, size: int) -> int:
    """Where a run of exactly so many backticks begins."""
    for found in _RUN["`"].finditer(text, start):
        if len(found[0]) == size:
            return found.start()
    return -1


def _strip_code(code: str) -> str:
    """Code without the two blanks that only keep a backtick in it from its marks."""
    return code[1:-1] if len(code) > 2 and code[0] == code[-1] == " " and code.strip() else code


def _trim_address(address: str) -> str:
    """An address without what belongs to the sentence around it."""
    while True:
        trimmed = address.rstrip(".,;:!?*_~'|")
        if trimmed.endswith((")", "]")) and not _is_balanced(trimmed):
            trimmed = trimmed[:-1]
        if trimmed == address:
            return address
        address = trimmed


def _is_balanced(address: str) -> bool:
    closing = address[-1]
    opening = "(" if closing == ")" else "["
    return address.count(closing) <= address.count(opening)


def _merge(pieces: Sequence[Piece]) -> list[Piece]:
    merged: list[Piece] = []
    for piece in pieces:
        if merged and (merged[-1].role, merged[-1].link) == (piece.role, piece.link):
            merged[-1] = Piece(merged[-1].text + piece.text, piece.role, piece.link)
        else:
            merged.append(piece)
    return merged


def measure_pieces(pieces: Sequence[Piece]) -> int:
    """How many cells the pieces take."""
    return sum(width(piece.text) for piece in pieces)
