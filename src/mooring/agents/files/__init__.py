"""Agent files of every coding tool into definitions, and what is wrong with them. Nothing in them is run or granted."""
