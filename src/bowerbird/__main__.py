"""Makes `python -m bowerbird` run the `bowerbird` command."""

from bowerbird.cli import main

if __name__ == "__main__":
    main()
