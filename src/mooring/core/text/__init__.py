"""Rules about text, and other small things without a subject: globs, secrets, diffs, similar names."""
