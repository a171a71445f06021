"""``python -m bagcn`` is the command line."""

from bagcn.cli import main

main()
