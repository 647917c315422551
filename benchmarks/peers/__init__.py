"""Ours beside other tools, each in an environment of its own."""
