"""Who may start what: a definition goes in with the person's earlier decisions, its standing comes out."""
