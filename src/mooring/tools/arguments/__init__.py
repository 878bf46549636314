"""Arguments held to a schema: what a model or a person wrote goes in, valid arguments or a plain reason come out."""
