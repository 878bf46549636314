"""What is configured and may start: files and the person's decisions go in, approved definitions come out."""
