"""`python -m directboost` is the command line."""

from .cli import main

main()
