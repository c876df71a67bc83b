"""Exits with 0 if the service in this container is ready, for HEALTHCHECK of the Dockerfile.

A worker has no port for requests: pass the address of its metrics instead.
"""

import os
import sys
import urllib.error
import urllib.request
from typing import Final

_LIMIT_S: Final = 4


def main() -> int:
    default = f"http://127.0.0.1:{os.environ.get('BOWERBIRD_PORT', '8080')}/readyz"
    address = sys.argv[1] if len(sys.argv) > 1 else default
    # Without the proxies that the environment may name: the address is in this container.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(address, timeout=_LIMIT_S):
            return 0
    except urllib.error.HTTPError as refused:
        print(refused.read(500).decode(errors="replace").strip(), file=sys.stderr)
    except OSError as error:
        print(f"{address}: {error}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
