#!/bin/sh
# Installs system packages that pip cannot install, or says which are missing. Installing needs
# Debian or a derivative, and root or sudo without a password. Otherwise it prints the command and
# changes nothing.
#   system.sh fonts            installs the Noto fonts for PDF exports (make fonts)
#   system.sh fonts --check    only says which of them are missing
#   system.sh tests            installs the fonts and Chromium, which make test needs
#   system.sh all-tests        installs Firefox and PgBouncer too, which make test-all needs
set -eu

fonts="fontconfig fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji"
chromium="chromium chromium-headless-shell"
case "${1:-}" in
  fonts) command=fonts; packages="$fonts"; reason="PDF exports show text without a font as empty boxes." ;;
  tests) command=test; packages="$fonts $chromium"; reason="Tests that need them fail." ;;
  all-tests) command=test-all; packages="$fonts $chromium firefox-esr pgbouncer"; reason="Tests that need them fail." ;;
  *)     echo "usage: $0 fonts|tests|all-tests [--check]" >&2; exit 2 ;;
esac

missing=""
for package in $packages; do
  dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "${2:-}" = --check ]; then
  # Another system may have the fonts in other packages, which bowerbird doctor finds.
  command -v dpkg-query >/dev/null || exit 0
  echo "Not installed:$missing. $reason To install them with apt-get, run: make $command" >&2
  exit 0
fi
if [ "$(id -u)" = 0 ]; then as_root=""; else as_root="sudo -n"; fi
if ! command -v apt-get >/dev/null || ! $as_root true 2>/dev/null; then
  echo "Not installed, because apt-get is missing or needs a password:$missing. $reason" >&2
  echo "On Debian, run: sudo apt-get install --no-install-recommends$missing" >&2
  exit 0
fi
echo "Installing these system packages with apt-get:$missing"
# First without an update, which is faster. A new machine has no package lists, so this fails there.
$as_root apt-get install --yes --quiet --no-install-recommends $missing >/dev/null 2>&1 || {
  $as_root apt-get update --quiet >/dev/null
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --no-install-recommends $missing >/dev/null
}
