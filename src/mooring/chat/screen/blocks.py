"""The lines of Markdown become leaves, one after another; a line that is still being written changes nothing yet."""

import re
from typing import Literal, TypeAlias

from msgspec import Struct

from mooring.chat.screen.leaves import (
    CodeText,
    Divider,
    Leaf,
    Margin,
    Position,
    Prose,
    RawText,
    TableText,
    Title,
)
from mooring.chat.screen.line import Piece
from mooring.chat.screen.table import read_alignments, split_row
from mooring.display.markdown import FENCE

_QUOTATION = re.compile(r" {0,3}> ?")
_ENTRY = re.compile(r" {0,3}(?P<sign>[-*+]|\d{1,9}[.)])(?P<blanks> +|$)")
_NESTED_ENTRY = re.compile(r" +(?:[-*+]|\d{1,9}[.)])(?: |$)")
_TASK = re.compile(r"\[([ xX])\] ")
_HEADING = re.compile(r" {0,3}(#{1,6})(?: +|$)(.*)")
_DIVIDER = re.compile(r" {0,3}([-*_])(?: *\1){2,} *$")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,}) *$")
_HTML = re.compile(
    r" {0,3}(?:<!--|</?(?:article|aside|blockquote|body|center|dd|details|div|dl|dt|figure|footer|form|h[1-6]|head"
    r"|header|hr|html|iframe|li|link|main|meta|nav|ol|p|pre|script|section|style|summary|table|tbody|td|th|thead|title"
    r"|tr|ul)(?:[\s/>]|$))",
    re.IGNORECASE,
)
_UNDECIDED = re.compile(r"[-+*_=#`~> ]*$")
"""A line that is still being written, and says nothing yet but what kind of line it may become."""

_DEEPEST = 12
_SIGNS = "•◦▪"


class Layer(Struct, frozen=True):
    """A quotation or an entry of a list that others stand in."""

    kind: Literal["quotation", "entry"]
    first: Margin
    rest: Margin
    sign_column: int = 0
    indent: int = 0
    """How many blanks the further lines of an entry begin with."""


Layers: TypeAlias = tuple[Layer, ...]

_QUOTATION_LAYER = Layer("quotation", (Piece("│ ", "rule"),), (Piece("│ ", "rule"),))


class LineEffect(Struct, frozen=True):
    """What a line does."""

    kind: Literal["add", "start", "blank", "end"]
    """Whether it goes to the open leaf, starts one, is empty, or ends the open one and is not shown itself."""
    layers: Layers
    text: str = ""
    leaf: Leaf | None = None
    takes_line: bool = False
    """Whether the last line of the open paragraph belongs to the new leaf."""


class BlockReader:
    """Reads the lines of one text in order. They are safe to show, and without tabs."""

    def __init__(self) -> None:
        self.leaves: list[Leaf] = []
        self.open: Leaf | None = None
        """The last one, as long as another line may belong to it."""
        self._layers: Layers = ()
        self._is_after_blank = False

    def read(self, line: str) -> None:
        """The next line."""
        effect = self._plan(line)
        match effect.kind:
            case "add":
                self._add(effect.text)
            case "blank":
                self._add_blank()
            case "end":
                self.open = None
            case "start":
                self._start(effect)
        self._layers = effect.layers
        self._is_after_blank = effect.kind == "blank"

    def read_more(self, text: str, *, is_plain: bool) -> None:
        """More of the last line, which is too long to be read as one; if it is plain, signs stand for themselves."""
        if isinstance(self.open, CodeText):
            self.open.extend_last(text)
            return
        if text.strip():
            rest = _join_margins(self._layers)
            prose = Prose(Position(None, rest, rest), text)
            prose.is_plain = is_plain
            self._open_leaf(prose)

    def note_cut(self, glue: str) -> None:
        """What was read last was only the beginning of a line."""
        if isinstance(self.open, Prose):
            self.open.glue = glue

    def peek(self, line: str) -> LineEffect:
        """What a line would do that is still being written: nothing may be added to the open leaf yet."""
        if isinstance(self.open, CodeText) and self.open.fence:
            return self._plan(line)
        if _UNDECIDED.match(line):
            return LineEffect("blank", self._layers)
        return self._plan(line)

    def close(self) -> None:
        """There are no more lines."""
        self.open = None

    # --- what a line does ------------------------------------------------------------------------------------------

    def _plan(self, line: str) -> LineEffect:
        matched, rest = self._match_layers(line)
        layers = self._layers[:matched]
        is_inside = matched == len(self._layers)
        leaf = self.open
        if isinstance(leaf, CodeText) and is_inside:
            effect = self._plan_in_code(leaf, rest, layers)
            if effect is not None:
                return effect
        if not rest.strip():
            return LineEffect("blank", layers)
        if isinstance(leaf, RawText) and is_inside:
            return LineEffect("add", layers, rest)
        return self._plan_leaf(rest, layers)

    def _match_layers(self, line: str) -> tuple[int, str]:
        """How many of the layers the line stands in, and what is left of it inside of them."""
        for number, layer in enumerate(self._layers):
            if layer.kind == "quotation":
                found = _QUOTATION.match(line)
                if found is None:
                    return number, line
                line = line[found.end() :]
            elif line.strip():
                blanks = _count_blanks(line)
                # Models indent what is below `1. ` by two blanks, too.
                if blanks < layer.indent and not (blanks > layer.sign_column + 1 and _NESTED_ENTRY.match(line)):
                    return number, line
                line = line[min(blanks, layer.indent) :]
            else:
                line = line[layer.indent :]
        return len(self._layers), line

    def _plan_in_code(self, code: CodeText, rest: str, layers: Layers) -> LineEffect | None:
        if code.fence:
            found = FENCE.match(rest)
            if found is not None and found[1].startswith(code.fence) and not found[2].strip():
                return LineEffect("end", layers)
            return LineEffect("add", layers, rest[min(code.indent, _count_blanks(rest)) :])
        if _count_blanks(rest) >= 4 and rest.strip():
            return LineEffect("add", layers, rest[4:])
        return None

    def _plan_leaf(self, rest: str, layers: Layers) -> LineEffect:
        leaf = self.open
        is_inside = len(layers) == len(self._layers)
        in_prose = isinstance(leaf, Prose) and not leaf.is_empty
        opened, rest = _open_layers(rest, layers, interrupts=in_prose and is_inside)
        if is_inside and not opened:
            if isinstance(leaf, TableText) and "|" in rest:
                return LineEffect("add", layers, rest)
            taken = self._take_line(rest, layers)
            if taken is not None:
                return taken
        position = self._place(layers, opened)
        made = _make_leaf(rest, position, may_be_indented=not in_prose or bool(opened))
        if made is None and isinstance(leaf, Prose) and not opened and (is_inside or not leaf.is_empty):
            # The next line of a paragraph may forget the signs of its list or quotation.
            return LineEffect("add", self._layers, rest)
        made = made or Prose(position, rest)
        if self.leaves:
            _set_off(made, (*layers, *opened))
        return LineEffect("start", (*layers, *opened), leaf=made)

    def _take_line(self, rest: str, layers: Layers) -> LineEffect | None:
        """What makes a heading or a table of the last line of the open paragraph."""
        leaf = self.open
        if not isinstance(leaf, Prose) or leaf.is_empty:
            return None
        position = self._place(layers, ())
        if leaf.has_one_line:
            position = leaf.position
        made: Leaf | None = None
        alignments = read_alignments(rest)
        if alignments is not None and _count_cells(leaf.last_line) == len(alignments):
            made = TableText(position, leaf.last_line, alignments)
        elif leaf.has_one_line and _UNDERLINE.match(rest):
            made = Title(position, leaf.last_line, 1 if "=" in rest else 2)
        if made is None:
            return None
        if len(self.leaves) > 1 or not leaf.has_one_line:
            _set_off(made, layers)
        return LineEffect("start", layers, leaf=made, takes_line=True)

    def _place(self, layers: Layers, opened: Layers) -> Position:
        """Where a leaf stands that begins now."""
        outer = _join_margins(layers)
        first = (*outer, *(piece for layer in opened for piece in layer.first))
        rest = (*outer, *_join_margins(opened))
        last = self.leaves[-1] if self.leaves else None
        has_gap = last is not None and (self._is_after_blank or (last.is_loud and not self._layers and not layers))
        return Position(_join_gap(layers) if has_gap else None, first, rest)

    # --- what is done with it --------------------------------------------------------------------------------------

    def _add(self, text: str) -> None:
        leaf = self.open
        if isinstance(leaf, Prose | RawText | TableText | CodeText):
            leaf.add(text)
        if isinstance(leaf, Prose) and leaf.is_full:
            self.open = None

    def _add_blank(self) -> None:
        if isinstance(self.open, CodeText):
            self.open.add_blank()
        else:
            self.open = None

    def _start(self, effect: LineEffect) -> None:
        if effect.takes_line and isinstance(self.open, Prose):
            self.open.remove_last_line()
            if self.open.is_empty:
                self.leaves.pop()
        if effect.leaf is not None:
            self._open_leaf(effect.leaf)

    def _open_leaf(self, leaf: Leaf) -> None:
        self.leaves.append(leaf)
        self.open = None if isinstance(leaf, Title | Divider) else leaf


def _set_off(leaf: Leaf, layers: Layers) -> None:
    """Give a heading, a table or code an empty line before it, outside of lists and quotations."""
    if leaf.is_loud and leaf.position.gap is None and not layers:
        leaf.position = Position((), leaf.position.first, leaf.position.rest)


def _open_layers(rest: str, layers: Layers, *, interrupts: bool) -> tuple[Layers, str]:
    """The quotations and entries that a line begins, and what is left of it inside of them."""
    opened: list[Layer] = []
    while len(layers) + len(opened) < _DEEPEST:
        found = _QUOTATION.match(rest)
        if found is not None:
            opened.append(_QUOTATION_LAYER)
            rest = rest[found.end() :]
            continue
        entry = None if _DIVIDER.match(rest) else _ENTRY.match(rest)
        if entry is None or (interrupts and not opened and not _may_interrupt(entry, rest)):
            break
        layer, rest = _open_entry(entry, rest, (*layers, *opened))
        opened.append(layer)
    return tuple(opened), rest


def _may_interrupt(entry: re.Match[str], rest: str) -> bool:
    """Whether a list begins right below a paragraph: a sentence may go on with a number such as `1984. `."""
    return bool(rest[entry.end() :].strip()) and (not entry["sign"][0].isdigit() or entry["sign"][:-1] == "1")


def _open_entry(entry: re.Match[str], rest: str, layers: Layers) -> tuple[Layer, str]:
    blanks = len(entry["blanks"])
    inside = rest[entry.end() :]
    if not inside.strip():
        blanks, inside = 1, ""
    elif blanks > 4:
        # Code that is further in begins right in the entry.
        blanks, inside = 1, " " * (blanks - 1) + inside
    indent = entry.end("sign") + blanks
    sign = entry["sign"]
    if not sign[0].isdigit():
        depth = sum(layer.kind == "entry" for layer in layers)
        sign = _SIGNS[min(depth, len(_SIGNS) - 1)]
    task = _TASK.match(inside)
    if task is not None:
        inside = inside[task.end() :]
        done = task[1] != " "
        sign = "☑" if done else "☐"
        first = (Piece(f"{sign} ", "success" if done else "mark"),)
    else:
        first = (Piece(f"{sign} ", "mark"),)
    margin = (Piece(" " * (len(sign) + 1)),)
    return Layer("entry", first, margin, entry.start("sign"), indent), inside


def _make_leaf(rest: str, position: Position, *, may_be_indented: bool) -> Leaf | None:
    """The leaf that a line begins; `None` for a paragraph."""
    blanks = _count_blanks(rest)
    if blanks >= 4:
        if not may_be_indented:
            return None
        code = CodeText(position)
        code.add(rest[4:])
        return code
    if (fence := FENCE.match(rest)) is not None:
        info = fence[2].split()
        return CodeText(position, fence[1], info[0].strip("{.}") if info else "", blanks)
    if (heading := _HEADING.match(rest)) is not None:
        return Title(position, _strip_closing(heading[2]), len(heading[1]))
    if _DIVIDER.match(rest):
        return Divider(position)
    if _HTML.match(rest):
        return RawText(position, rest)
    return None


def _strip_closing(title: str) -> str:
    """A heading without the signs that may end it as they began it."""
    title = title.strip()
    bare = title.rstrip("#")
    return bare.rstrip() if not bare or bare.endswith(" ") else title


def _join_margins(layers: Layers) -> Margin:
    return tuple(piece for layer in layers for piece in layer.rest)


def _join_gap(layers: Layers) -> Margin:
    """What stands in an empty line: the bars of quotations, and no blanks behind them."""
    last = max((number for number, layer in enumerate(layers, 1) if layer.kind == "quotation"), default=0)
    return _join_margins(layers[:last])


def _count_blanks(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _count_cells(line: str) -> int:
    return len(split_row(line))
