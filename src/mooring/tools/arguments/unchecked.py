"""What is raised where arguments cannot be checked; apart, so that whoever catches it doesn't load what raises it."""


class Unchecked(Exception):
    """Arguments cannot be checked; the message says why, as the end of a sentence."""
