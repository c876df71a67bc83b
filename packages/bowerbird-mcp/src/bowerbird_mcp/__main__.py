"""Makes `python -m bowerbird_mcp` run the `bowerbird-mcp` command."""

import sys

from bowerbird_mcp.command import main

sys.exit(main())
