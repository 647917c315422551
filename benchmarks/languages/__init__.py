"""The `language` stage: which part of a text to look at, how right it is, what it costs."""
