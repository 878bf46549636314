"""What people see: values go in, lines of text that are safe for a terminal come out."""
