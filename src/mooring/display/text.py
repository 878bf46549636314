"""Values as plain words, and text that others wrote made safe to show: what a person reads, in any face."""

import re
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from mooring.core.definitions.problem import Problem
from mooring.core.definitions.template import (
    CommandPart,
    FilePart,
    ForeignPart,
    InputPart,
    KnownPart,
    Part,
    SecretPart,
    Template,
    TextPart,
    VariablePart,
    is_bare_name,
)
from mooring.core.text.secret import HIDDEN

# A server's name, a tool's description and a log line are written by others. An escape sequence in them would move the
# cursor or set the window's title, a right-to-left override would show a name that is not the one being approved, and a
# blank or a mark that is drawn over its neighbor would hide or change what is beside it. Unicode's own categories say
# which characters are of that kind: a list of them is never complete.
# Patterns stay strings, compiled on first use: most text is printable ASCII, and a listing needs none of them.

# What stands for a picture by itself.
_PICTURE = (
    "\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
# Invisible characters that are kept where they make an emoji: U+FE0F behind a picture or before a keycap (U+20E3), the
# keycap, and U+200D between two pictures. The last blocks of pictures grow faster than Python's tables.
_EMOJI = (
    f"(?<=[{_PICTURE}])\ufe0f|(?<=[0-9#*])\ufe0f(?=\u20e3)|(?<=[0-9#*]\ufe0f)\u20e3"
    f"|(?<=[{_PICTURE}\ufe0f])\u200d(?=[{_PICTURE}])|[\U0001f000-\U0001faff]"
)
_MOST_MARKS = 4
"""How many marks stay on one letter: more would climb into the lines around it."""
_JOINERS = "\u200d\ufe0f"
# Words that every shell takes as they are.
_NEEDS_NO_QUOTES = r"(?a)[\w@%+=:,./-]+"


class Verbatim(str):
    """A line that is shown as it is, however long: code or data that may be copied. A terminal may break it, not we."""

    __slots__ = ()


def safe(text: str) -> str:
    """The text on one line, with everything that could steer a terminal or deceive an eye shown as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return _escape_odd(text, keep="")


def exact_text(text: str) -> str:
    """The same for a text of many lines: newlines and tabs stay."""
    # A carriage return by itself would overwrite its line; before a newline it is only how Windows ends one.
    return _escape_odd(text.replace("\r\n", "\n"), keep="\n\t")


def safe_text(text: str) -> str:
    """The same for a text that is read and not decided about: in it, blanks of other widths are plain ones."""
    if not text.isascii():
        for blank in filter(_is_space, set(text)):
            text = text.replace(blank, " " * width(blank))
    return exact_text(text)


def _is_space(character: str) -> bool:
    from unicodedata import category  # only for text beyond ASCII

    return character > "\x7f" and category(character) == "Zs"


def _escape_odd(text: str, keep: str) -> str:
    # Each kind of character is looked at once: most texts have few kinds, and all of them are harmless.
    odd = [character for character in set(text) if character not in keep and _is_odd(character)]
    if not odd:
        return text
    shown: dict[str, str] = {}

    def show(found: re.Match[str]) -> str:
        if found["emoji"] is not None:
            return found[0]
        start = found.start()
        before = text[max(0, start - _MOST_MARKS) : start]
        # The same few letters come again and again, and to look at their names takes long.
        key = f"{before}{found[0]}"
        if key not in shown:
            shown[key] = found[0] if _belongs_to_letter(found[0], before) else _escape(found[0])
        return shown[key]

    return re.sub(f"(?P<emoji>{_EMOJI})|[{re.escape(''.join(odd))}]", show, text)


def _is_odd(character: str) -> bool:
    """Whether a character is a control, a blank other than the space, invisible, or drawn over its neighbor."""
    if " " <= character <= "~":
        return False
    # False for controls, formats, surrogates, private and unassigned characters, and all separators.
    if not character.isprintable():
        return True
    from unicodedata import category, name  # only for text beyond ASCII

    kind = category(character)
    if kind in ("Lo", "So"):
        # Letters and symbols that Unicode itself calls empty.
        return name(character, "").endswith(("FILLER", "PATTERN BLANK", "NULL NOTEHEAD"))
    return kind.startswith("M")


def _belongs_to_letter(character: str, before: str) -> bool:
    """Whether a mark belongs to the letter before it, as the vowels of many scripts do."""
    from unicodedata import category, name

    if not category(character).startswith("M"):
        return False
    script = name(character, "").partition(" ")[0]
    for each in reversed(before):
        # A mark that fits any letter is named after none of the scripts: COMBINING, VARIATION, …
        if name(each, "").partition(" ")[0] != script:
            return False
        if not category(each).startswith("M"):
            return category(each).startswith("L")
    return False


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    if code < 0x10000:
        return f"\\u{code:04x}"
    return f"\\U{code:08x}"


def mark_server(server: str) -> str:
    """What stands before each line that a server wrote into a question: no line of ours begins like this."""
    return f"{safe(server)} │"


def quote_server(server: str, text: str) -> str:
    """What a server wrote into a question, each line marked as its own: none can pass for one of ours."""
    return "\n".join(f"{mark_server(server)} {line}" for line in exact_text(text).split("\n"))


# --- values that may be secrets ------------------------------------------------------------------------------------


def mask(template: Template) -> str:
    """What a value that may be a secret consists of, without any of its text."""
    if is_bare_name(template):
        return HIDDEN
    return "".join(map(_mask_part, template.parts)) or HIDDEN


def reveal_commands(template: Template) -> str:
    """The same as `mask`, but with the commands that would run: a person has to see them before they approve."""
    return "".join(map(_reveal_part, template.parts))


def _reveal_part(part: Part) -> str:
    if isinstance(part, CommandPart):
        return "!" + "".join(map(_reveal_word, part.line))
    return _mask_part(part)


def _reveal_word(part: Part) -> str:
    return part.text if isinstance(part, TextPart | ForeignPart) else _mask_part(part)


def _mask_part(part: Part) -> str:
    match part:
        case VariablePart(name, str()):
            # A default may be the secret itself.
            return VariablePart(name, HIDDEN).written
        case CommandPart():
            return f"!{HIDDEN}"
        case FilePart():
            return FilePart(HIDDEN).written
        case TextPart() | ForeignPart():
            return HIDDEN
        case VariablePart() | InputPart() | KnownPart() | SecretPart():
            return part.written


# --- words, paths and sentences ------------------------------------------------------------------------------------


def quote_command(words: Sequence[str]) -> str:
    """The words as one would type them, each quoted if it must be."""
    return " ".join(safe(_quote(word)) for word in words)


def quote_argument(name: str) -> str:
    """A name as the last word of a command that a person may copy: quoted, and never an option."""
    quoted = _quote(name)
    return safe(f"-- {quoted}" if name.startswith("-") else quoted)


def suggest_new_record(path: str) -> str:
    """What to do about a record that cannot be used."""
    return f"to start a new one: mv {quote_argument(path)} {quote_argument(f'{path}.damaged')}"


def _quote(word: str) -> str:
    if re.fullmatch(_NEEDS_NO_QUOTES, word):
        return word
    # Nothing can be escaped inside single quotes: they close, a quote stands in double quotes, and they open again.
    return "'" + word.replace("'", "'\"'\"'") + "'"


def end_sentence(words: str) -> str:
    """The words with a period, unless they end a sentence already: another may follow them."""
    words = words.rstrip()
    return words if words.endswith((".", "!", "?", ":", "…")) or not words else f"{words}."


def short_path(path: str, home: str) -> str:
    """A path with the person's home as `~`."""
    if home and path.startswith(f"{home}/"):
        path = "~" + path[len(home) :]
    return safe(path)


def shorten_paths(text: str, home: str) -> str:
    """A text with the paths below the person's home as `~/…`; in quotes they stay, where no shell would expand them."""
    if len(home) < 2 or home not in text:
        return text
    return re.sub(rf"(?<![^\s(]){re.escape(home)}/", "~/", text)


def describe_origin(tool: str, scope: str, path: str | None, home: str) -> str:
    """Where a definition was written, in words."""
    return f"{tool}, {scope}: {describe_path(path, home)}"


def describe_path(path: str | None, home: str) -> str:
    """The file of a definition, in words."""
    return short_path(path, home) if path else "command line"


def name_server(name: str, error: str) -> str:
    """An error that begins with the server's name; most do already."""
    begins_with_name = re.match(rf"{re.escape(name)}(?![\w.@/-])", error)
    return error if begins_with_name else f"{name}: {error}"


def address_server(name: str, error: str) -> str:
    """The same error as a sentence about a server that is named before it: `It ended …` for `github ended …`."""
    text = error.removeprefix(f"{name}: ")
    return f"It {text.removeprefix(f'{name} ')}" if text.startswith(f"{name} ") else text


def count_noun(count: int, noun: str) -> str:
    """So many of something: `1 tool`, `2 tools`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def describe_held_back(count: int, *, instructions: bool = False) -> str:
    """How many tools of a server are held back, and why; and whether what it says about their use is, too."""
    if instructions and not count:
        return "what it tells models is held back: changed since your approval"
    also = ", and what it tells models" if instructions else ""
    return f"{count_noun(count, 'tool')} held back{also}: changed or new since your approval"


def advise_on_held_back(server: str) -> str:
    """What to do about a server's tools that are held back."""
    name = quote_argument(server)
    return f"to look: mooring mcp pins {name}, to let them be called: mooring mcp pins --approve {name}"


def describe_trust(mention: str) -> str:
    """Where another tool lets a project's server start, and what that means here."""
    return f"{safe(mention)} trusts this folder or this server; that alone approves nothing here"


def problem_line(problem: Problem, home: str = "") -> str:
    """What is wrong, where, and what to do about it, in one line."""
    place = _describe_place(problem, home)
    server = f"{safe(problem.server)}: " if problem.server else ""
    return f"{place}  {server}{problem_without_place(problem)}"


def problem_without_place(problem: Problem) -> str:
    """What is wrong, and what to do about it if that is known."""
    return safe("; ".join(filter(None, (problem.message, problem.hint))))


def _describe_place(problem: Problem, home: str) -> str:
    place = describe_path(problem.path, home)
    return f"{place}:{problem.line}" if problem.line else place


def describe_unread(problems: Sequence[Problem], home: str) -> str:
    """Which files could not be read, in a sentence about a server that may be defined there; empty without any."""
    if not problems:
        return ""
    if len(problems) > 1:
        places = ", ".join(_describe_place(problem, home) for problem in problems[:_MOST_UNREAD])
        more = f" and {len(problems) - _MOST_UNREAD} more files" if len(problems) > _MOST_UNREAD else ""
        return f"It may be defined in one of these files, which could not be read: {places}{more}."
    [problem] = problems
    reason = problem.message[:1].lower() + problem.message[1:]
    return f"{_describe_place(problem, home)} could not be read: {safe(reason)}; it may be defined there."


_MOST_UNREAD = 3


def describe_base64_size(data: str) -> str:
    """How much a Base64 text holds: three bytes in four characters, less what only fills up the last four."""
    filling = data[-2:].count("=")
    return f"{len(data) * 3 // 4 - filling:,} bytes"


def shorten_description(text: str, most: int = 160) -> str:
    """The first line of what a server says about itself or a tool, in `most` cells; its last word is whole."""
    line = text.strip().partition("\n")[0].strip()
    if width(line) <= most:
        return safe(line)
    start = _take_cells(line, most)
    whole_words = start.rpartition(" ")[0]
    # One word that fills half of it, such as an address, is cut in two rather than left out.
    shown = whole_words if len(whole_words) > most // 2 else start
    return safe(f"{shown} …")


_LEAST_LAST = 12
"""How many cells the last column gets, even if its lines then wrap."""

# --- columns -------------------------------------------------------------------------------------------------------


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as aligned lines; the last column is as long as it is."""
    aligned = zip(*(row[:-1] for row in rows), strict=True)
    widths = [max(map(width, column)) for column in aligned]
    return [_align(row, widths) for row in rows]


def fit_columns(rows: Sequence[Sequence[str]], cells: int) -> list[str]:
    """The same, with the last column cut to what a line of so many cells has left; the others are never cut."""
    others = [width(line) for line in columns([(*row[:-1], "") for row in rows])]
    left = max(_LEAST_LAST, cells - max(others, default=0) - 2)
    return columns([(*row[:-1], cut_end(row[-1], left)) for row in rows])


def _align(row: Sequence[str], widths: Sequence[int]) -> str:
    *aligned, last = row
    cells = [cell + " " * (cells - width(cell)) for cell, cells in zip(aligned, widths, strict=True)]
    return "  ".join([*cells, last]).rstrip()


def wrap_words(text: str, cells: int | None, indent: str | None = None) -> list[str]:
    """The text in lines that fit, broken between words; a word that is too long stays whole.

    Without an `indent`, further lines begin below the last column, or a little deeper than the first line.
    """
    if cells is None or _count_visible(text) <= cells:
        return [text]
    if indent is not None:
        return _break_words(text, cells, indent)
    lines = _break_words(text, cells, find_hanging_indent(text, cells))
    if any(_count_visible(line) > cells for line in lines):
        # A long word may fit where there is more room.
        return _break_words(text, cells, _deepen_indent(text))
    return lines


def _break_words(text: str, cells: int, indent: str) -> list[str]:
    lines = [""]
    for word in re.findall(r" *[^ ]+(?: +$)?", text):
        longer = lines[-1] + word
        if lines[-1].strip() and _count_visible(longer.rstrip()) > cells:
            lines.append(indent + word.lstrip())
        else:
            lines[-1] = longer
    return lines


def find_hanging_indent(text: str, cells: int) -> str:
    """What the further lines of a text begin with: below its last column, if it has any, or a little deeper."""
    label = re.match(r" *(?:[^ ]+ )*[^ ]+  +(?=[^ ])", text)
    if label is not None and width(label[0]) <= cells // 2:
        return " " * width(label[0])
    return _deepen_indent(text)


def _deepen_indent(text: str) -> str:
    """A little deeper than the text itself."""
    return " " * (len(text) - len(text.lstrip(" "))) + "  "


Style: TypeAlias = Literal["bold", "dim", "red", "green", "yellow", "cyan"]
_CODES: Mapping[Style, int] = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33, "cyan": 36}


def paint(text: str, *styles: Style) -> str:
    """The text in a color or weight, for a terminal that shows them."""
    codes = ";".join(str(_CODES[style]) for style in styles)
    return f"\x1b[{codes}m{text}\x1b[0m" if codes and text else text


def _count_visible(text: str) -> int:
    """How many cells a text takes from the beginning of a line on, without the sequences that color it."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text) if "\x1b" in text else text
    return width(plain.expandtabs())


def width(text: str) -> int:
    """How many cells of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width  # only for names beyond ASCII

    cells = 0
    for character in text:
        if character in _JOINERS or combining(character):
            continue
        cells += 2 if east_asian_width(character) in "WF" else 1
    return cells


def cut(text: str, cells: int) -> str:
    """A text in at most so many cells, its middle left out if it is longer: both ends of a path tell something."""
    # In fewer than eight cells, two ends would say nothing.
    if width(text) <= cells or cells < 8:
        return text
    head = _take_cells(text, cells // 3)
    tail = _take_cells(text[::-1], cells - width(head) - 1)[::-1]
    return f"{head}…{tail}"


def _take_cells(text: str, cells: int) -> str:
    """As much of the beginning of a text as fits."""
    taken = text[:cells]
    while width(taken) > cells:
        taken = taken[:-1]
    return taken


def cut_end(text: str, cells: int) -> str:
    """A text in at most so many cells, its end left out if it is longer: whole words, unless one fills half of it."""
    if width(text) <= cells:
        return text
    head = _take_cells(text, max(0, cells - 1))
    whole_words = head if text[len(head)] == " " else head.rpartition(" ")[0]
    shown = whole_words if len(whole_words) > len(head) // 2 else head
    return f"{shown.rstrip()}…"


# What a text could use to look like the end of its section, and go on as if it were somebody else's.
_MARKS = r"(?i)<(?=\s*/?\s*(?:server-instructions|instructions|skills?|system|earlier-conversation)\b)"


def escape_marks(text: str) -> str:
    """A text with control characters made visible, and without anything that looks like one of our own marks."""
    return re.sub(_MARKS, r"<\\", safe_text(text))


def write_marked(tag: str, attributes: Mapping[str, str], text: str, most: int) -> str:
    """A section with the first `most` characters of a text, and who wrote it."""
    shown = escape_marks(text).strip()
    if len(shown) > most:
        shown = f"{shown[:most]}\n[{len(shown) - most:,} more characters]"
    written = "".join(f' {name}="{_write_value(value)}"' for name, value in attributes.items())
    return f"<{tag}{written}>\n{shown}\n</{tag}>"


def _write_value(value: str) -> str:
    return safe(value).replace('"', "'").replace("<", "(").replace(">", ")")
