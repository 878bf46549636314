"""One function per verb: an inventory or an open host goes in, a value comes out that any face can show."""
