"""The host: the options of `mooring.open` go in; the tools, calls and events of all servers come out as one."""
