"""Models behind an API: the name of a model goes in, a model that can be asked comes out.

What talks to one is loaded by `choose.py` alone, in a thread, once a model is chosen: most commands need none.
"""
