"""What is generated says what the code does."""

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def test_the_page_of_formats_is_the_one_that_the_formats_make() -> None:
    made = runpy.run_path(str(DOCS / "formats.py"))["page"]()
    assert (DOCS / "formats.md").read_text() == made, "run: make docs"
