"""What tests of agents share: the libraries of providers, loaded before the clock of a test starts."""

from backends.conftest import libraries

__all__ = ["libraries"]
