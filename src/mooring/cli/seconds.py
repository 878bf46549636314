"""The type of options that take seconds."""

from math import isfinite

import click


class Seconds(click.FloatRange):
    """A number of seconds. click alone takes "nan" and "inf" for numbers, and nothing could wait for these."""

    def convert(self, value: str | float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        seconds: float = super().convert(value, param, ctx)
        if not isfinite(seconds):
            self.fail(f"{value!r} is not a number of seconds.", param, ctx)
        return seconds


SOME_SECONDS = Seconds(min=0, min_open=True)
