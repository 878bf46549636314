"""`NotebookRead` and `NotebookEdit`: the cells of a Jupyter notebook."""

import asyncio
import json
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from mooring.agents.local.project_files import FileTool
from mooring.agents.local.writing import ChangingTool, encode_text
from mooring.conversation.local_tool import LocalCall
from mooring.core.protocol.content import IMAGE_TYPES, Block, Image, Text, is_displayable
from mooring.core.protocol.raw import is_too_deep
from mooring.core.protocol.result import Result
from mooring.core.text.digest import compute_digest
from mooring.errors import FileError

MAX_OUTPUT = 10_000
"""How many characters of one output are shown."""
MAX_PICTURES = 20
MAX_CELLS = 10_000


class NotebookReadArguments(Struct, forbid_unknown_fields=True):
    notebook_path: Annotated[str, Meta(description="The .ipynb file")]
    cell_id: Annotated[str, Meta(description="Only this cell: its id, or cell-N by its number from 0")] = ""


class NotebookEditArguments(Struct, forbid_unknown_fields=True):
    notebook_path: Annotated[str, Meta(description="The .ipynb file")]
    new_source: Annotated[str, Meta(description="What the cell is to contain")] = ""
    cell_id: Annotated[
        str, Meta(description="The cell: its id, or cell-N by its number from 0; a new cell goes behind it")
    ] = ""
    cell_type: Annotated[Literal["code", "markdown", ""], Meta(description="What a new cell is")] = ""
    edit_mode: Literal["replace", "insert", "delete"] = "replace"


class NotebookReadTool(FileTool):
    label = "NotebookRead"
    description = "Read a Jupyter notebook: its cells with their ids, and what they printed."
    parameters = NotebookReadArguments
    aliases = ("Read",)
    only_reads = True
    path_field = "notebook_path"

    async def run(self, call: LocalCall) -> Result:
        return await asyncio.to_thread(self._read, call.access.subject, call.arguments.cell_id)

    def _read(self, real: str, cell_id: str) -> Result:
        shown = self.workspace.shorten(real)
        data = self.workspace.read(real)
        if data is None:
            raise FileError(shown, "does not exist")
        cells = list_cells(parse_notebook(shown, data), shown)
        self.workspace.remember(real, data)
        chosen = [find_cell(cells, cell_id, shown)] if cell_id else range(len(cells))
        blocks: list[Block] = []
        for number in chosen:
            blocks += _show_cell(number, cells[number])
        return Result(tuple(_limit_pictures(blocks)) or (Text("[The notebook has no cells.]"),))


class NotebookEditTool(ChangingTool):
    label = "NotebookEdit"
    description = (
        "Change one cell of a Jupyter notebook: replace what it contains, insert a new one behind it (at the beginning "
        "without cell_id), or delete it."
    )
    parameters = NotebookEditArguments
    aliases = ("Edit", "Write", "Read")
    path_field = "notebook_path"

    def change(self, shown: str, before: bytes | None, arguments: Struct) -> bytes:
        assert isinstance(arguments, NotebookEditArguments)
        if before is None:
            raise FileError(shown, "does not exist")
        notebook = parse_notebook(shown, before)
        # A new cell has the same id when it is shown and when it is written.
        new_id = compute_digest(before + encode_text(arguments.new_source))[:8]
        _change_cells(list_cells(notebook, shown), arguments, shown, new_id)
        # As Jupyter writes it, so that only the cell differs.
        return encode_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")

    def describe(self, shown: str, before: bytes | None, after: bytes) -> str:
        return f"Changed {shown}."


def parse_notebook(shown: str, data: bytes) -> dict[str, Any]:
    """A notebook as data. Raises: FileError if it is none."""
    try:
        notebook = None if is_too_deep(data) else json.loads(data.decode(errors="surrogateescape"))
    except ValueError:
        notebook = None
    if not isinstance(notebook, dict):
        raise FileError(shown, "is not a Jupyter notebook")
    return notebook


def list_cells(notebook: dict[str, Any], shown: str) -> list[dict[str, Any]]:
    """The cells of a notebook, which are changed with it. Raises: FileError if it has none that can be read."""
    cells = notebook.get("cells")
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise FileError(shown, "has no list of cells: it is no notebook, or one of before 2015")
    if len(cells) > MAX_CELLS:
        raise FileError(shown, f"has more than {MAX_CELLS:,} cells")
    return cells


def find_cell(cells: list[dict[str, Any]], id: str, shown: str) -> int:
    """The number of a cell. Raises: FileError if there is none of that id."""
    for number, cell in enumerate(cells):
        if cell.get("id") == id:
            return number
    number_text = id.removeprefix("cell-")
    if number_text.isdecimal() and len(number_text) < 6 and int(number_text) < len(cells):
        return int(number_text)
    raise FileError(shown, f"has no cell {id!r}")


def _change_cells(cells: list[dict[str, Any]], arguments: NotebookEditArguments, shown: str, new_id: str) -> None:
    if arguments.edit_mode == "insert":
        index = find_cell(cells, arguments.cell_id, shown) + 1 if arguments.cell_id else 0
        cells.insert(index, _make_cell(arguments, new_id))
        return
    number = find_cell(cells, arguments.cell_id, shown)
    if arguments.edit_mode == "delete":
        del cells[number]
        return
    cell = cells[number]
    cell["source"] = arguments.new_source.splitlines(keepends=True)
    if arguments.cell_type:
        cell["cell_type"] = arguments.cell_type
    # What the old code printed is not what the new code prints.
    if cell.get("cell_type") == "code":
        cell |= {"outputs": [], "execution_count": None}
    else:
        cell.pop("outputs", None)
        cell.pop("execution_count", None)


def _make_cell(arguments: NotebookEditArguments, id: str) -> dict[str, Any]:
    kind = arguments.cell_type or "code"
    source = arguments.new_source.splitlines(keepends=True)
    cell: dict[str, Any] = {"cell_type": kind, "id": id, "metadata": {}, "source": source}
    return {**cell, "outputs": [], "execution_count": None} if kind == "code" else cell


def _show_cell(number: int, cell: dict[str, Any]) -> list[Block]:
    kind = str(cell.get("cell_type", "unknown"))
    id = str(cell.get("id") or f"cell-{number}")
    blocks: list[Block] = [Text(f'<cell id="{id}" type="{kind}">\n{_join(cell.get("source"))}\n</cell>')]
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else []:
        if isinstance(output, dict):
            blocks += _show_output(output)
    return blocks


def _show_output(output: dict[str, Any]) -> list[Block]:
    found = output.get("data")
    data = found if isinstance(found, dict) else {}
    text = _join(output.get("text")) or _join(data.get("text/plain")) or _join(output.get("traceback"))
    blocks: list[Block] = [Text(f"Output: {_shorten(text)}")] if text else []
    for kind in sorted(IMAGE_TYPES):
        picture = "".join(_join(data.get(kind)).split())
        if picture and is_displayable(kind, picture):
            blocks.append(Image(data=picture, mime_type=kind))
    return blocks


def _join(lines: object) -> str:
    """A text, which notebooks keep as one or as a list of lines."""
    if isinstance(lines, list):
        lines = "".join(line for line in lines if isinstance(line, str))
    return lines.encode(errors="replace").decode() if isinstance(lines, str) else ""


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_OUTPUT else f"{text[:MAX_OUTPUT]}… [the output goes on]"


def _limit_pictures(blocks: list[Block]) -> list[Block]:
    kept: list[Block] = []
    pictures = 0
    for block in blocks:
        pictures += isinstance(block, Image)
        if not isinstance(block, Image) or pictures <= MAX_PICTURES:
            kept.append(block)
    return kept
