"""One function per verb: an inventory goes in, a value comes out that any face can show."""
