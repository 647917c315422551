"""How many instructions a kernel needs for a byte of text: a slow-down is seen without a clock."""
