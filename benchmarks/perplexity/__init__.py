"""How well perplexity tells good text from other text, by the models in data/models."""
