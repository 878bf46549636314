"""What is used of aiohttp beyond its documentation: all of it in one file, and all of it still there."""

import inspect
import re
from pathlib import Path

import pytest
from aiohttp import BaseConnector, ClientRequest, StreamReader, TCPConnector, web
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.http import RawResponseMessage

import mooring

pytestmark = pytest.mark.swift

ALLOWED = {"wire/http/connections.py", "serve/http/connections.py"}
"""One file where we are the client, and one where we are the server."""
INTERNALS = re.compile(
    r"aiohttp\.(?:client_proto|client_reqrep|connector|http|http_parser|streams|web_protocol)\b|_keepalive_timeout"
)


def list_parameters(function):
    return set(inspect.signature(function).parameters)


def test_one_file_on_each_side_reaches_into_aiohttp():
    source = Path(mooring.__file__).parent
    found = {path for path in source.rglob("*.py") if INTERNALS.search(path.read_text("utf-8"))}
    assert {path.relative_to(source).as_posix() for path in found} == ALLOWED


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
