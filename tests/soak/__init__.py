"""Long use: that nothing grows, is left open or is left behind, however often it is done."""
