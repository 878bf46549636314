"""Results for a model: what a tool returned goes in, what fits the budget and a file with the whole come out."""
