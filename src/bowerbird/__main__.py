"""`python -m bowerbird` is `bowerbird`."""

from bowerbird.cli import main

if __name__ == "__main__":
    main()
