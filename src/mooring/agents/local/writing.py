"""`Write` and `Edit`: a file's contents replaced in one step, if nobody else changed it meanwhile."""

import asyncio
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from mooring.agents.local.project_files import MAX_FILE, FileTool
from mooring.conversation.local_tool import LocalCall, text_result
from mooring.core.conversation.verdict import LocalAccess
from mooring.core.protocol.result import Result
from mooring.core.text.diff import list_changes
from mooring.display.text import count_noun
from mooring.errors import FileError
from mooring.files.no_follow import write_exact


class WriteArguments(Struct, forbid_unknown_fields=True):
    file_path: Annotated[str, Meta(description="The file; absolute, or relative to the working folder")]
    content: Annotated[str, Meta(description="All that the file is to contain")]


class EditArguments(Struct, forbid_unknown_fields=True):
    file_path: Annotated[str, Meta(description="The file; absolute, or relative to the working folder")]
    old_string: Annotated[str, Meta(description="The text to replace, exactly as it is in the file")]
    new_string: Annotated[str, Meta(description="What to put in its place")]
    replace_all: Annotated[bool, Meta(description="Replace every occurrence; otherwise there must be one")] = False


class ChangingTool(FileTool):
    """A tool that changes one file: the change is worked out first, to be shown, and once more when it is made.

    Whether it can be made says what is in the file. So a rule about `Read` holds for each of these tools too.
    """

    def change(self, shown: str, before: bytes | None, arguments: Struct) -> bytes:
        """The new contents of a file. Raises: FileError if the change cannot be made."""
        raise NotImplementedError

    def describe(self, shown: str, before: bytes | None, after: bytes) -> str:
        """What a model is told once it is done."""
        raise NotImplementedError

    def assess(self, arguments: Struct) -> LocalAccess:
        path = self.find_path(arguments)
        access = self.workspace.assess_writing(path, "", None)
        if access.refused:
            # Not even read: what is in there is nobody's business.
            return access
        try:
            before = self.workspace.read(path.real)
            after = self.change(self.workspace.shorten(path.real), before, arguments)
        except FileError as error:
            # Whoever may not read the file must not learn from a failure what is in it, or whether there is one.
            fault = str(error) if self.workspace.is_inside(path.real) else ""
            return replace(access, fault=fault)
        return self.workspace.assess_writing(path, show_change(path.real, before, after), before, after)

    async def run(self, call: LocalCall) -> Result:
        return await asyncio.to_thread(self._write, call.access, call.arguments)

    def _write(self, access: LocalAccess, arguments: Struct) -> Result:
        real = access.subject
        shown = self.workspace.shorten(real)
        before = self.workspace.read(real)
        self.workspace.check_unchanged(real, before, access)
        after = self.change(shown, before, arguments)
        if len(after) > MAX_FILE:
            raise FileError(shown, f"would be larger than {MAX_FILE // 1024 // 1024} MiB")
        # First: if this process ends in between, nothing is lost.
        self.workspace.keep(real, before, after)
        if after != before:
            write_exact(real, after, before, MAX_FILE)
        self.workspace.remember(real, after)
        return text_result(self.describe(shown, before, after))


class WriteTool(ChangingTool):
    label = "Write"
    description = (
        "Write a file: make a new one, or replace all that is in it. Read an existing file first. "
        "To change a part of a file, use Edit."
    )
    parameters = WriteArguments
    aliases = ("Edit", "Read")

    def change(self, shown: str, before: bytes | None, arguments: Struct) -> bytes:
        assert isinstance(arguments, WriteArguments)
        real = self.find_path(arguments).real
        if before and not self.workspace.has_read(real):
            raise FileError(shown, "exists, and has not been read in this conversation: read it first")
        return encode_text(arguments.content)

    def describe(self, shown: str, before: bytes | None, after: bytes) -> str:
        lines = count_noun(len(after.splitlines()), "line")
        return f"{'Made' if before is None else 'Replaced'} {shown} ({lines})."


class EditTool(ChangingTool):
    label = "Edit"
    description = (
        "Replace a text in a file. old_string must be exactly what the file has, including indentation, and be in it "
        "only once unless replace_all is true; add lines around it until it is unique. Line numbers are not part of "
        "it. An empty old_string makes a new file."
    )
    parameters = EditArguments
    aliases = ("Write", "Read")

    def change(self, shown: str, before: bytes | None, arguments: Struct) -> bytes:
        assert isinstance(arguments, EditArguments)
        if arguments.old_string == arguments.new_string:
            raise FileError(shown, "would stay as it is: old_string and new_string are the same")
        if before is not None and not arguments.old_string:
            raise FileError(shown, "exists: an empty old_string is for new files only")
        if before is not None:
            return replace_text(shown, before, arguments)
        if arguments.old_string:
            raise FileError(shown, "does not exist")
        return encode_text(arguments.new_string)

    def describe(self, shown: str, before: bytes | None, after: bytes) -> str:
        return f"Made {shown}." if before is None else f"Changed {shown}."


def replace_text(shown: str, before: bytes, arguments: EditArguments) -> bytes:
    """A file's contents with one text replaced; every other byte stays, whatever it is. Raises: FileError."""
    text = before.decode(errors="surrogateescape")
    old, new = arguments.old_string, arguments.new_string
    # A model is shown lines, not what ends them: in a file with CRLF it means CRLF.
    if _has_only_crlf(text):
        old, new = _to_crlf(old), _to_crlf(new)
    count = text.count(old)
    if not count:
        raise FileError(shown, "does not contain old_string: read it again, and copy the text exactly")
    if count > 1 and not arguments.replace_all:
        raise FileError(shown, f"contains old_string {count:,} times: add lines around it, or use replace_all")
    return encode_text(text.replace(old, new))


def encode_text(text: str) -> bytes:
    """The bytes of a text; those that were no UTF-8 when it was read become what they were.

    Raises: FileError if a model wrote half of a surrogate pair.
    """
    try:
        return text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        raise FileError("The text", "holds half a character, which no file can: write it again") from None


def _has_only_crlf(text: str) -> bool:
    return 0 < text.count("\n") == text.count("\r\n")


def _to_crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def show_change(path: str, before: bytes | None, after: bytes | None) -> str:
    """What a change does to a file, for a person: in the form of `diff -u`, all of it; `None` is no file."""
    old, new = _split_for_person(before or b""), _split_for_person(after or b"")
    old_name, new_name = ("/dev/null" if data is None else path for data in (before, after))
    return "\n".join([f"--- {old_name}", f"+++ {new_name}", *list_changes(old, new)])


def _split_for_person(data: bytes) -> list[str]:
    # At newlines only, and with every byte that is no text spelled out: nothing that changes may look the same.
    if not data:
        return []
    *lines, rest = data.decode(errors="backslashreplace").split("\n")
    return [*lines, f"{rest}\n\\ No newline at end of file"] if rest else lines
