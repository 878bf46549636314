"""What is said in the conversations that are measured: a reply of some lines, and text that goes on for a minute."""

SENTENCES = (
    "Every line is made fast to a **bollard**, and the ship lies still at her berth.",
    "The tide turns at `04:12`, so the spring line takes the load before the bow line does.",
    "Nobody casts off before the pilot is aboard, whatever the [schedule](https://example.com) says.",
)
CODE_LINES, TABLE_ROWS = 500, 200
EVENT, EVENTS_PER_SECOND = 4, 2_000
"""Characters of a piece of text, and how many such pieces come in a second."""
CYCLE = 40_000
"""Characters after which the long text begins anew: what is said in five seconds."""

REPLY = f"""## How she is moored

{SENTENCES[0]} {SENTENCES[1]} {SENTENCES[2]}

- bow line, stern line
- two breast lines
- two spring lines

```python
for line in lines:
    line.make_fast(to=bollard)
```

| line | load |
|------|------|
| bow  | 12 t |
| stern | 9 t |

"""


def cut_event(text: str, number: int) -> str:
    """One piece of a text that begins anew at its end."""
    start = number * EVENT % CYCLE
    return text[start : start + EVENT]


def write_cycle() -> str:
    """A long block of code, a long table, and prose."""
    text = f"# The harbor\n\n{_write_code()}\n{_write_table()}\n"
    number = 0
    while len(text) < CYCLE:
        text += SENTENCES[number % len(SENTENCES)] + ("\n\n" if number % 4 == 3 else " ")
        number += 1
    return text[: CYCLE - 2] + "\n\n"


def _write_code() -> str:
    lines = (f"    load[{number}] = tide(hour={number % 24}) * 0.5  # tons" for number in range(CODE_LINES - 1))
    return "\n".join(["```python", "def measure(load):", *lines, "```", ""])


def _write_table() -> str:
    rows = (f"| line {number} | {number * 7 % 90} t | bollard `{number % 12}` |" for number in range(TABLE_ROWS))
    return "\n".join(["| line | load | made fast to |", "|------|-----:|--------------|", *rows, ""])
