"""Values and rules that every other folder shares: values go in, values come out, and nothing touches the disk."""
