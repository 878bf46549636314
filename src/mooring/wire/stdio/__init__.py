"""A transport over two pipes: a program's stdin and stdout go in, whole messages come out."""
