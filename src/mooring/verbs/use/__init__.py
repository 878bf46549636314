"""The verbs that connect servers and use them: names and arguments go in, results come out."""
