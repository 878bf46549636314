"""Async tests run each in a loop of its own, and none for longer than it should."""

import asyncio
import inspect

import pytest

GUARD = 20.0


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    wanted = inspect.signature(pyfuncitem.obj).parameters
    given = {name: value for name, value in pyfuncitem.funcargs.items() if name in wanted}
    asyncio.run(asyncio.wait_for(pyfuncitem.obj(**given), GUARD))
    return True
