"""The nouns of the house: frozen values without I/O. Nothing goes in but values, nothing comes out but values."""
