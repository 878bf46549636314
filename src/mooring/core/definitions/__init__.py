"""What configuration files say, as values: a definition, its templates, where it stands and what is wrong with it."""
