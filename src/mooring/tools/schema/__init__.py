"""Schemas of tools: a schema as its server wrote it goes in, one that a model provider accepts comes out."""
