"""Models of any other provider, through Pydantic AI: only a name that begins with `pydantic-ai:` loads it."""
