"""What a text names with `@`: a file, a folder or a resource, as it was written."""

import re
from collections.abc import Iterator

from msgspec import Struct

# Behind a letter it is part of an e-mail address, behind a slash of a URL, and a backslash takes its meaning away.
_MENTION = re.compile(r'(?<![\w\\@.+%/-])@(?:"([^"\n]+)"|([^\s@"]\S*))')
_PUNCTUATION = ".,;:!?'\"`)]}>*"
"""What a sentence may put behind a name."""
_MOST_PUNCTUATION = 8
"""How much of it: each character makes one more spelling, and a file may hold a million of them in a row."""


class TypedMention(Struct, frozen=True):
    """Something behind an `@`, and what it says without the punctuation that may belong to the sentence."""

    spellings: tuple[str, ...]
    is_quoted: bool = False


def find_mentions(text: str) -> list[TypedMention]:
    """Everything behind an `@` that may name something."""
    found = []
    for match in _MENTION.finditer(text):
        quoted, word = match.groups()
        if quoted is not None:
            found.append(TypedMention((quoted,), is_quoted=True))
        else:
            found.append(TypedMention(tuple(_list_spellings(word))))
    return found


def spell_mention(path: str) -> str | None:
    """How a path is named in a text, in quotation marks where it needs them; `None` if it can't be."""
    for spelled in (f"@{path}", f'@"{path}"'):
        if [each.spellings[0] for each in find_mentions(spelled)] == [path]:
            return spelled
    return None


def _list_spellings(word: str) -> Iterator[str]:
    yield word
    for _ in range(_MOST_PUNCTUATION):
        if len(word) < 2 or word[-1] not in _PUNCTUATION:
            return
        word = word[:-1]
        yield word
