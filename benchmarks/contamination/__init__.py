"""How surely planted test items are found, and what is wrongly found: ours beside two rules."""
