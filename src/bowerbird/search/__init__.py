"""Finding posts by word: the tokens both engines index, and the queries over them."""
