"""One module for each library of a provider: an endpoint goes in, Pydantic AI's model for it comes out."""
