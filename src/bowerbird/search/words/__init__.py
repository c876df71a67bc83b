"""From text to the tokens of the index: folding, languages, and other forms of words."""
