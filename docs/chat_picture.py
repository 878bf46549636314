"""Draws the chat as it is after a real turn, and lists its keys: `make docs`.

The program runs in a pseudo-terminal as anybody would start it. Its server is the bundled demo server; its model is the
one of the tests, on loopback, so that it says the same every time.
"""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pyte
from tests.chat.screen.svg import Run, draw_svg
from tests.models import Call, FakeModel, Reply, Say, Usage

from chat.screen.screen_person import ENTER, ScreenPerson
from mooring.chat.screen.styles import find_looks
from mooring.core.keys import KEY_ACTIONS, spell_key
from support import Home

PICTURE = Path(__file__).with_name("start") / "chat.svg"
GUIDE = Path(__file__).with_name("guides") / "chat.md"
SIZE = (96, 34)
MODEL = "anthropic:claude-sonnet-5-5"
REQUEST = "A visitor stays two nights on berth 7. What do we charge? Fix prices.py if it disagrees."
PRICES = """\
BERTHS = {7: 40}


def charge(berth, nights):
    return BERTHS[berth] + nights
"""
FINAL = """\
Two nights on berth 7 are **€ 80**, but `charge` said 42: it added the nights to the price.

| night | price | sum |
|------:|------:|----:|
| 1 | € 40 | € 40 |
| 2 | € 40 | € 80 |

It multiplies now:

```python
return BERTHS[berth] * nights
```
"""
USED = Usage(input=21_400, output=180)


def _list_replies() -> list[Reply]:
    fix = {
        "file_path": "prices.py",
        "old_string": "return BERTHS[berth] + nights",
        "new_string": "return BERTHS[berth] * nights",
    }
    return [
        [Say("I'll read the price list, and add the nights up.\n"), Call("Read", {"file_path": "prices.py"}), USED],
        [Call("mcp__demo__add", {"a": 40, "b": 40}), USED],
        [Call("Edit", fix), USED],
        [Say(FINAL), USED],
    ]


def run_chat() -> list[list[Run]]:
    """The rows of the screen once the model has answered."""
    with TemporaryDirectory() as folder, FakeModel(_list_replies()) as fake:
        home = Home(Path(folder))
        home.write("home/.config/mooring/settings.json", {"theme": "dark"})
        (home.cwd / "prices.py").write_text(PRICES)
        env = {
            "ANTHROPIC_BASE_URL": fake.anthropic_url,
            "ANTHROPIC_API_KEY": "none",
            "COLORTERM": "truecolor",
            "TERM": "xterm-256color",
        }
        cells, rows = SIZE
        words = ("chat", "--demo", "-m", MODEL, "--allow", "demo.*", "--permission-mode", "edits")
        with ScreenPerson(home, *words, cells=cells, rows=rows, **env) as person:
            person.looks_for("answers")
            person.presses(f"{REQUEST}{ENTER}")
            person.looks_for("tokens in,")
            person.looks_until_gone("Esc stops it")
            drawn = read_rows(person)
            person.presses(f"/quit{ENTER}")
            person.ended()
    return drawn


def read_rows(person: ScreenPerson) -> list[list[Run]]:
    """What stands on the screen, but for how long something took, which differs from run to run."""
    screen = person.drawn
    return [_read_row([screen.buffer[y][x] for x in range(screen.columns)]) for y in range(screen.lines)]


def _read_row(cells: list[pyte.screens.Char]) -> list[Run]:
    # Behind a wide character there is an empty cell.
    runs = [Run(cell.data, *_find_look(cell)) for cell in cells if cell.data]
    text = "".join(run.text for run in runs)
    for found in re.finditer(r"· ([\d.]+ m?s)(?= )", text):
        steady = "1 ms".ljust(len(found[1]))
        runs[found.start(1) : found.end(1)] = [
            run._replace(text=letter) for run, letter in zip(runs[found.start(1) : found.end(1)], steady, strict=True)
        ]
    return runs


def _find_look(cell: pyte.screens.Char) -> tuple[str, str, bool, bool, bool, bool]:
    page = find_page()
    color = page.color if cell.fg == "default" else f"#{cell.fg}"
    background = page.background if cell.bg == "default" else f"#{cell.bg}"
    if cell.reverse:
        color, background = background, color
    return color, background, cell.bold, cell.italics, cell.underscore, cell.strikethrough


def find_page() -> Run:
    """What is drawn where nothing is."""
    base = find_looks("dark").base
    assert base.color is not None
    assert base.bgcolor is not None
    return Run(" ", base.color.get_truecolor().hex, base.bgcolor.get_truecolor().hex)


def draw() -> str:
    """The screen as a picture."""
    return draw_svg(run_chat(), find_page(), f"A chat in the terminal: {REQUEST}")


def fill_in_keys(page: str) -> str:
    """The guide with the keys that the screen has today."""
    rows = [("key", "what it does", "name in `keys`"), ("---",) * 3]
    for action in KEY_ACTIONS:
        keys = ", ".join(f"`{spell_key(key)}`" for key in action.keys)
        rows.append((keys, action.help, f"`{action.name}`"))
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    return re.sub(r"(?<=<!-- keys -->\n).*?(?=<!-- end -->)", lambda _: f"\n{table}\n", page, flags=re.S)


if __name__ == "__main__":
    PICTURE.write_text(draw())
    GUIDE.write_text(fill_in_keys(GUIDE.read_text()))
