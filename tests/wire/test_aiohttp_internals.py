"""What is used of aiohttp beyond its documentation: all of it in one file, and all of it still there."""

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import pytest
from aiohttp import BaseConnector, ClientRequest, StreamReader, TCPConnector, web
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.http import RawResponseMessage

import mooring
from mooring.serve.http.outgoing import PlainAnswer

pytestmark = pytest.mark.swift

SOURCE = Path(mooring.__file__).parent
INTERNALS = "wire/http/aiohttp_internals.py"
DOCUMENTED = {"aiohttp", "aiohttp.abc", "aiohttp.web"}
"""The modules whose names are in aiohttp's documentation."""
UNDOCUMENTED = {
    "ClientRequest", "connection_made", "connection_lost", "on_eof", "set_response_params",
}  # fmt: skip
"""Names without an underscore that the documentation does not have."""


def list_private_names(tree: ast.AST) -> set[str]:
    """The names with an underscore that a file gives to something."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name, ctx=ast.Store()) | ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
    return {name for name in found if name.startswith("_") and not name.startswith("__")}


THEIRS = set().union(
    *(list_private_names(ast.parse(path.read_text("utf-8"))) for path in Path(aiohttp.__file__).parent.rglob("*.py"))
)


def find_internals(source: str) -> Iterator[str]:
    """Where a file reaches into aiohttp: its inner modules, and private names that are not the file's own."""
    tree = ast.parse(source)
    own = list_private_names(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (each.name for each in names if is_inner(each.name))
            case ast.ImportFrom(module=str(module), names=names):
                if is_inner(module):
                    yield module
                if module in DOCUMENTED:
                    yield from (each.name for each in names if each.name in UNDOCUMENTED or each.name.startswith("_"))
            case ast.Attribute(attr=name) if name in UNDOCUMENTED:
                yield name
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name) if name in own or "aiohttp" not in source:
                pass  # its own, or inherited from a class of ours
            case ast.Attribute(attr=name) if name in THEIRS and (name not in own or "aiohttp" in source):
                yield name
            case ast.FunctionDef(name=name) if name in UNDOCUMENTED and "aiohttp" in source:
                yield name


def is_inner(module: str) -> bool:
    return module.startswith("aiohttp.") and module not in DOCUMENTED


def list_parameters(function):
    return set(inspect.signature(function).parameters)


def test_one_file_reaches_into_aiohttp():
    found = {
        path.relative_to(SOURCE).as_posix(): names
        for path in SOURCE.rglob("*.py")
        if (names := sorted(set(find_internals(path.read_text("utf-8")))))
    }
    assert found == {
        INTERNALS: [
            "ClientRequest", "_keepalive_timeout", "aiohttp.connector", "aiohttp.http", "connection_lost",
            "connection_made", "on_eof", "set_response_params",
        ]
    }  # fmt: skip


@pytest.mark.parametrize(
    "source",
    [
        "import aiohttp.client_proto",
        "from aiohttp.web_protocol import RequestHandler",
        "from aiohttp import ClientRequest",
        "def end(answer): answer.connection._protocol.abort()",
        "import aiohttp\nclass Own:\n    def __init__(self, other): self._protocol = other._protocol",
        "from aiohttp import web\nclass Own(web.Server):\n    def count(self): return len(self._connections)",
        "from aiohttp import web\nclass Own(web.Server):\n    def connection_made(self, handler, transport): pass",
    ],
)
def test_a_file_that_reaches_into_aiohttp_is_found(source):
    assert list(find_internals(source))


def test_a_class_of_ours_shares_no_private_name_with_its_base():
    ours = list_private_names(ast.parse(inspect.getsource(PlainAnswer)))
    assert ours
    assert ours.isdisjoint(list_private_names(ast.parse(inspect.getsource(web.StreamResponse))))


async def test_a_connector_reads_its_idle_limit_each_time():
    connector = TCPConnector(keepalive_timeout=4.0)
    assert connector._keepalive_timeout == 4.0
    assert "_keepalive_timeout" in inspect.getsource(BaseConnector._get)
    await connector.close()


def test_a_connector_is_asked_for_a_connection_by_a_request():
    assert list(inspect.signature(BaseConnector.connect).parameters)[1:] == ["req", "traces", "timeout"]
    assert list_parameters(ClientRequest.__init__) >= {"method", "url", "headers", "loop", "proxy", "proxy_headers"}


def test_an_answer_is_read_from_a_connection_without_a_session():
    wanted = {"read_until_eof", "auto_decompress", "max_line_size", "max_field_size", "max_headers"}
    assert list_parameters(ResponseHandler.set_response_params) >= wanted
    assert inspect.iscoroutinefunction(ResponseHandler.read)
    assert callable(ResponseHandler.abort)
    for name in ("protocol", "transport", "release", "close"):
        assert hasattr(Connection, name)
    assert callable(StreamReader.on_eof)
    for name in ("code", "reason", "headers"):
        assert hasattr(RawResponseMessage, name)


def test_a_server_is_told_of_its_connections():
    assert list(inspect.signature(web.Server.connection_made).parameters)[1:] == ["handler", "transport"]
    assert list(inspect.signature(web.Server.connection_lost).parameters)[1:] == ["handler", "exc"]
    assert callable(web.Server.pre_shutdown)
    assert hasattr(web.RequestHandler, "transport")
