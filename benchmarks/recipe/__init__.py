"""The whole recipe: where its time goes, beside ``wc -w`` and beside datatrove's like recipe."""
