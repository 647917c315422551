"""How well near-duplicates are found: ours beside other tools, and by language."""
