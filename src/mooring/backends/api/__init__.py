"""Models behind an API: the name of a model goes in, a model that can be asked comes out.

What loads Pydantic AI and the libraries of the providers is loaded by `choose.py` alone, in a thread, once a model is
chosen: it takes seconds, and most commands need no model.
"""
