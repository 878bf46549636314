"""What is in a folder, within bounds."""

import os
from itertools import islice

from mooring.files.reading import errors_of


def list_folder(path: str, most: int) -> list[str]:
    """The names in a folder, sorted, at most so many of them; those of folders end in a slash.

    Raises:
        FileError: it cannot be listed.
    """
    with errors_of(path), os.scandir(path) as found:
        return sorted(f"{entry.name}/" if entry.is_dir() else entry.name for entry in islice(found, most))
