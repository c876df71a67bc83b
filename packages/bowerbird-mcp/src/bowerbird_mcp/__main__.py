"""`python -m bowerbird_mcp`."""

import sys

from bowerbird_mcp.command import main

sys.exit(main())
