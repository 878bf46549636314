"""The tests of adapters run in the environment of their framework: see `__main__.py`."""

import pytest

pytest.register_assert_rewrite("behaviors")
