"""Checks the types of the website's scripts with TypeScript, for `make check`."""

import sys

from tests.support.programs import node


def main() -> int:
    checked = node.run("typescript-checker/bin/tsc", "--project", node.WANTED / "tsconfig.json")
    sys.stdout.write(checked.stdout + checked.stderr)
    return checked.returncode


if __name__ == "__main__":
    sys.exit(main())
