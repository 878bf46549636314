"""Names that look like another one: `github` with a Cyrillic i in it, or with a joiner that nobody sees.

Every name has a skeleton: what an eye takes it for, in plain ASCII letters as far as there are any. Two names with one
skeleton cannot be told apart by a person who is asked about one of them.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache

from mooring.core.text.glob import folded

# The characters after each colon look like what is before it, in common fonts. Widths, mathematical letters
# and ligatures are not here: NFKC folds them. A capital is compared as a capital, since в looks like no b.
_LOOKALIKES = """
A:АΑᎪꓮᴀ B:ВΒᏴꓐʙ C:СϹᏟꓚⲤᴄ D:ᎠꓓⅮᴅ E:ЕΕᎬꓰᴇ F:Ϝꓝꜰᖴ G:ԌᏀꓖɢ H:НΗᎻꓧʜ I:ІΙӀꓲⲒɪ J:ЈͿᎫꓙᴊ K:КΚᏦꓗᴋ L:Ꮮꓡʟ M:МΜᎷꓟᴍ
N:ΝꓠɴⲚ O:ОΟꓳՕⲞᴏ P:РΡᏢꓑᴘ Q:Ԛ R:ᎡꓣʀᏒ S:ЅᏚꓢꜱՏ T:ТΤᎢꓔᴛ U:ꓴՍᴜ V:ѴᏙꓦᴠ W:ԜᏔꓪᴡ X:ХΧꓫⲬ Y:УΥꓬʏҮ Z:ΖᏃꓜᴢ
a:аαɑ b:Ьᖯ c:сϲⲥ d:ԁᏧ e:еҽ f:ϝք g:ɡցɢ h:һհᏂ i:іιıɩⲓ j:јϳȷ k:кκ l:ӏǀ∣׀ m:м n:пηոռ o:оοσօⲟഠ p:рρⲣ q:ԛգզ r:гᴦⲅ
s:ѕƽ t:тτ u:υսʋ v:ѵν w:ԝωաɯ x:хχ y:уγүყ z:ᴢ
-:‐‑‒–—−⁃⎯ /:⁄∕ .:ꓸ․· _:ˍ ':’‘ʼ
"""

_ASCII_LOOKALIKES = str.maketrans("I1|0", "lllo")
"""Letters and digits of ASCII that look different only in a font with serifs."""


@cache
def _replacements() -> Mapping[int, str]:
    found: dict[int, str] = {}
    for word in _LOOKALIKES.split():
        plain, _, odds = word.partition(":")
        found |= dict.fromkeys(map(ord, odds), plain)
    return found


def skeleton(text: str) -> str:
    """What an eye takes a text for, without regard to case and to blanks around it."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_replacements())
    return " ".join(folded(text).split())


def crude_skeleton(text: str) -> str:
    """The same, taking `l`, `I` and `1`, `O` and `0`, `m` and `rn` for one as well."""
    plain = unicodedata.normalize("NFKC", text).translate(_replacements()).translate(_ASCII_LOOKALIKES)
    return skeleton(plain).replace("rn", "m")


def is_plain(text: str) -> bool:
    """Whether a text is what it looks like: printable ASCII without blanks around it."""
    is_printable = text.isascii() and text.isprintable()
    return is_printable and text == text.strip()


def reads_as_ascii(text: str) -> bool:
    """Whether a text passes for plain ASCII without being it."""
    return not is_plain(text) and skeleton(text).isascii()


def is_disguised(text: str) -> bool:
    """Whether a text passes for plain ASCII and no language explains why.

    A word of one language may happen to consist of lookalikes only, as the Russian word for sugar does. One that has
    Latin letters too, or characters that cannot be seen, was made to be taken for another.
    """
    if not reads_as_ascii(text):
        return False
    odd = _find_oddities(text)
    if not odd:
        return False
    has_latin = re.search("[A-Za-z]", text) is not None
    is_explained = _replacements().keys() >= set(map(ord, odd))
    return has_latin or not is_explained


def _find_oddities(text: str) -> list[str]:
    """The characters that are not what they look like, each once."""
    return list(filter(_is_odd, dict.fromkeys(text)))


def _is_odd(character: str) -> bool:
    if character.isascii():
        return not character.isprintable()
    # A raised 2 or a trademark sign is what it is.
    return unicodedata.category(character) not in ("No", "So")


def describe_oddities(text: str) -> str:
    """What is odd about a name that passes for another: `U+0456 for i`."""
    odd = [character for character in _find_oddities(text) if skeleton(character).isascii()]
    return ", ".join(map(_describe_look, odd)) or "other characters"


def _describe_look(odd: str) -> str:
    look = skeleton(odd)
    passes_for = f"for {look}" if look else "which is invisible"
    return f"U+{ord(odd):04X} {passes_for}"
