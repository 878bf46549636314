"""The guard: a small process that starts every child of one host and leaves none of them behind.

It is a program of its own, on the standard library alone, and this folder is all of it. The host runs `boot.py`,
and `cleanup.py` if its guard dies; the guard process itself begins in `main.py`. It has to start fast, so it is
imported as a package of its own (`guard`, not `mooring.process.guard`), which spares it the import of Mooring: that
is why the imports here are relative.

The two talk over a `Channel`.

To the guard:   ("spawn", number, argv, env, cwd, container) with stdin, stdout and stderr as descriptors
                ("end", number, patience, grace): wait for a polite exit, then SIGTERM, then SIGKILL of the tree
                ("terminal", settings, text) with the terminal as a descriptor: if the host is killed, give it back with
                these settings and write the text to it; without text and descriptor, no longer
From the guard: ("started", number, pid) or ("failed", number, stage, errno, path), later ("exit", number,
                returncode) and, when nothing of its tree is left, ("gone", number); ("crash", text) if it fails

The guard notices the end of the host by its pidfd or by the end of the stream. Either ends every tree: a child and
all of its descendants, and gives the terminal back that a host was killed on. `linux.py` finds the processes of a tree
on Linux, `portable.py` on other systems.
"""
