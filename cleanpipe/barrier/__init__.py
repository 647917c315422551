"""What the engine does at a barrier; what a duplicate *is* the stage says.

sketches.py keeps what the stages want of each document, and earlier.py of the survivors of earlier
runs; pairs.py brings equal buckets together, verifying.py what is needed to compare the pairs,
resolving.py puts the edges into canonical order, verdicts.py applies what was decided;
docs/decisions/012 has the whole picture. repeats.py is the barrier of a corpus rewriter.
rows.py has the rows and files that all of them share.
"""
