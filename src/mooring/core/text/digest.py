"""What stands for the contents of a file where they are compared with what they were."""

from hashlib import sha256


def compute_digest(data: bytes | None) -> str:
    return "none" if data is None else sha256(data).hexdigest()
