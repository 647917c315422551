"""What the benchmarks share: the texts they read, and the clock."""
