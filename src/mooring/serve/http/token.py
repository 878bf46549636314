"""The token that clients have to show: made once, kept where only its owner can read it."""

from hashlib import sha256
from hmac import compare_digest
from secrets import token_urlsafe
from typing import Final

from msgspec import Struct

from mooring import files
from mooring.display.text import suggest_new_record
from mooring.errors import FileError
from mooring.files.record import DAMAGED

_BYTES: Final = 32


class AccessToken(Struct, frozen=True):
    """A token, and whether it is new: then it has to be shown once."""

    text: str
    is_new: bool

    def __repr__(self) -> str:
        return "<AccessToken>"

    def matches(self, shown: str) -> bool:
        """Whether a client shows this token. It takes as long whatever they show, so that nobody can guess by time."""
        return compare_digest(shown.encode(errors="surrogatepass"), self.text.encode())

    def derive_key(self, purpose: str) -> bytes:
        """A key that is the same for as long as this token is, and tells nothing about it."""
        return sha256(f"{purpose}\0{self.text}".encode()).digest()


def make_token() -> AccessToken:
    """A token that nobody can guess, and that is kept nowhere."""
    return AccessToken(token_urlsafe(_BYTES), True)


def load_token(path: str) -> AccessToken:
    """The token in a file, which is made if there is none.

    Raises:
        FileError: it cannot be read or made, or is damaged. It is never replaced: clients have it.
    """
    with files.locked(path):
        kept = files.read_own(path)
        if kept is not None:
            return AccessToken(_check_token(path, kept.strip()), False)
        made = make_token()
        files.write(path, made.text.encode() + b"\n")
        return made


def _check_token(path: str, kept: bytes) -> str:
    # As a header can carry it, whoever wrote it.
    if not kept.isascii() or not kept.decode().isprintable() or b" " in kept or not kept:
        raise FileError(path, DAMAGED, suggest_new_record(path))
    return kept.decode()
