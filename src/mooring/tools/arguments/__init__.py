"""Arguments checked against a schema: what a model or a person wrote goes in, valid arguments or a reason come out."""
