"""A registry of npm packages on this machine, with one server in it, for attacks that need no network."""

import base64
import hashlib
import io
import json
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import unquote

NPM_SERVER = """
let rest = '';
const send = (id, result) => process.stdout.write(JSON.stringify({jsonrpc: '2.0', id, ...result}) + '\\n');
const answers = {
  initialize: () => ({result: {protocolVersion: '2025-11-25', capabilities: {tools: {}},
                               serverInfo: {name: 'own-server', version: '1'}}}),
  'tools/list': () => ({result: {tools: [{name: 'where', inputSchema: {type: 'object'}},
                                         {name: 'variables', inputSchema: {type: 'object'}}]}}),
  'tools/call': ({name}) => ({result: {content: [
    {type: 'text', text: name === 'where' ? process.cwd() : JSON.stringify(process.env)}]}}),
  ping: () => ({result: {}}),
};
process.stdin.on('data', data => {
  const lines = (rest + data).split('\\n');
  rest = lines.pop();
  for (const {id, method, params} of lines.map(line => JSON.parse(line))) {
    if (id === undefined) continue;
    const answer = answers[method];
    send(id, answer ? answer(params ?? {}) : {error: {code: -32601, message: 'unknown'}});
  }
});
"""
"""A server with the tools `where`, the folder it is in, and `variables`, its environment."""


def pack(code: str) -> bytes:
    """A package with this program, as npm downloads it; `{name}` is filled in by the registry."""
    files = {"package/server.js": f"#!/usr/bin/env node\n{code}"}
    files["package/package.json"] = json.dumps({"name": "own-server", "version": "1.0.0", "bin": "server.js"})
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(text.encode()), 0o755
            archive.addfile(member, io.BytesIO(text.encode()))
    return data.getvalue()


class Registry:
    """Serves one package under the names own-server and @acme/own-server, and remembers what it was asked."""

    def __init__(self, package: bytes) -> None:
        self.asked: list[str] = []
        self._package = package
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._make_handler())
        self.url = f"http://127.0.0.1:{self._http.server_port}/"

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def describe(self, name: str) -> bytes:
        """What the registry says about the package."""
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(self._package).digest()).decode()
        dist = {"tarball": f"{self.url}{name}/-/own-server-1.0.0.tgz", "integrity": integrity}
        version = {"name": name, "version": "1.0.0", "bin": {"own-server": "server.js"}, "dist": dist}
        return json.dumps({"name": name, "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}).encode()

    def _make_handler(self) -> type[BaseHTTPRequestHandler]:
        registry = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = unquote(self.path).strip("/")
                registry.asked.append(path)
                is_package = path.endswith(".tgz")
                body = registry._package if is_package else registry.describe(path)
                self.send_response(200)
                self.send_header("Content-Type", "application/octet-stream" if is_package else "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        return Handler
