"""Who may start and call what: definitions, calls and the person's decisions go in, verdicts and refusals come out."""
