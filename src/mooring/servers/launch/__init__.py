"""A definition becomes something to start: templates and secrets go in, a command or an address comes out."""
