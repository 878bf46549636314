"""The guard: a small process that starts every child of one host and lets none of them outlive it.

It is a program of its own, on the standard library alone, and this folder is all of it. The host runs `begin.py`,
and `sweep.py` if its guard dies; `main.py` is where the guard itself begins. It must start in an instant, so it is
imported as a package of its own (`guard`, not `mooring.process.guard`): hence the relative imports here.

The two talk over a `Line`.

To the guard:   ("spawn", number, argv, env, cwd, container) with stdin, stdout and stderr as descriptors
                ("end", number, patience, grace): wait for a polite exit, then SIGTERM, then SIGKILL of the tree
From the guard: ("started", number, pid) or ("failed", number, stage, errno, path), later ("exit", number,
                returncode) and, when nothing of its tree is left, ("gone", number); ("crash", text) as last words

The end of the host, by its pidfd or the end of the stream, ends every tree: a child and all that descend from it.
Who belongs to a tree is for `lineage.py` to say on Linux, elsewhere for `groups.py`.
"""
