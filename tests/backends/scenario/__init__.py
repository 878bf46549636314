"""One scenario for the programs of all other agents: the real programs, real servers, and a model on loopback."""
