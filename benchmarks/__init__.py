"""Benchmarks, one module each; ``python -m benchmarks`` runs them all and prints their figures."""
