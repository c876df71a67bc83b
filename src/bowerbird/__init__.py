"""A self-hosted library for saved posts, with an HTTP API and tools for agents."""

import os
import sys

__version__ = "0.13.0"

# Otherwise onnxruntime stores an identifier of this machine in the home folder and may send events
# to its publisher. It reads the variable once, when it is imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

# A process of our own that has no log. Importing structlog took half of its start.
_WITHOUT_LOG = "bowerbird.exports"
# structlog imports rich if it can, for tracebacks in colour, which our log never has. That took a
# fifth of the time of a short command.
if "rich" not in sys.modules and _WITHOUT_LOG not in sys.orig_argv:
    sys.modules["rich"] = None  # type: ignore[assignment]
    try:
        import structlog  # noqa: F401
    finally:
        del sys.modules["rich"]
