"""The tools of a conversation in agent frameworks: one module per framework, each behind the extra of its name.

Import the module itself, for example `mooring.adapters.pydantic_ai`; nothing here loads a framework.
"""
