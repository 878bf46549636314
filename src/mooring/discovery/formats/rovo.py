"""Rovo Dev: the common shape in one file of the person's own."""

from mooring.discovery.dialect import PLAIN
from mooring.discovery.format import Format, user

FORMAT = Format(tool="rovo", title="Rovo Dev", places=(user("~/.rovodev/mcp.json"),), dialect=PLAIN)
