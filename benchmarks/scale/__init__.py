"""How near-duplicate removal grows with the corpus: time, memory, disk."""
