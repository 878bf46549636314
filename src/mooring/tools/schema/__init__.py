"""Schemas of tools: a schema as its server wrote it goes in, one that a model's provider takes comes out."""
