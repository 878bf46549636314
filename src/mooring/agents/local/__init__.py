"""The local tools of an agent: calls go in, files are read and changed and commands run, as the gate permits."""
