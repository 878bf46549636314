"""The page as it stands: what a run of some rows keeps of the others."""


class Published:
    """A page that `report.as_markdown` wrote, or an empty one."""

    def __init__(self, page: str) -> None:
        before, _, after = page.partition("\n## Results\n")
        tables = after.partition("\n## How cost grows\n")[0]
        self._promises = [_cells(line) for line in before.splitlines() if line.startswith("| ")]
        self._sections = dict(_titled(section) for section in tables.split("\n### ")[1:])

    def section(self, title: str) -> str:
        """The table of a row with its words, empty if there is none."""
        return self._sections.get(title, "")

    def promises(self, title: str) -> list[list[str]]:
        """The lines of the promises made for a row."""
        return [cells for cells in self._promises if cells[0] == title]


def _titled(section: str) -> tuple[str, str]:
    return section.partition("\n")[0], f"### {section.strip()}"


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("| ").split(" | ")]
