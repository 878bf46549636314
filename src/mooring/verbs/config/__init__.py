"""The verbs that look at definitions and change files: a description goes in, an entry or a report comes out."""
