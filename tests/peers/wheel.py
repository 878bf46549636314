"""A package with a small server in it, as a registry would have it."""

import zipfile
from pathlib import Path

FILE_NAME = "gauge_server-1.0-py3-none-any.whl"
SERVER = """
import json, os, sys

def main():
    for line in sys.stdin:
        asked = json.loads(line)
        method, answer = asked["method"], {}
        if method == "initialize":
            info = {"name": "gauge", "version": "1"}
            answer = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
        elif method == "tools/list":
            answer = {"tools": [{"name": "where", "inputSchema": {"type": "object"}}]}
        elif method == "tools/call":
            text = json.dumps([WORD, os.getcwd(), sorted(name for name in os.environ if name.startswith("UV_"))])
            answer = {"content": [{"type": "text", "text": text}]}
        if "id" in asked:
            print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}), flush=True)

if __name__ == "__main__":
    main()
"""


def make_wheel(folder: Path, word: str) -> Path:
    """The package `gauge-server`, whose server says the word."""
    folder.mkdir()
    record = "gauge_server-1.0.dist-info"
    files = {
        "gauge_server.py": f"WORD = {word!r}\n{SERVER}",
        f"{record}/METADATA": "Metadata-Version: 2.1\nName: gauge-server\nVersion: 1.0\n",
        f"{record}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{record}/entry_points.txt": "[console_scripts]\ngauge-server = gauge_server:main\n",
    }
    files[f"{record}/RECORD"] = "".join(f"{name},,\n" for name in (*files, f"{record}/RECORD"))
    with zipfile.ZipFile(folder / FILE_NAME, "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
    return folder / FILE_NAME
