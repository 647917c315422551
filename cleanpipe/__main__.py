"""``python -m cleanpipe``."""

from cleanpipe.cli import main

main()
