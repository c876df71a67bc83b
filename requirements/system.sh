#!/bin/sh
# Installs what pip cannot bring, where that is possible: Debian or a relative of it, as root or by
# sudo without a password. Elsewhere it says what is missing and leaves the machine alone.
#   system.sh fonts      the Noto fonts that PDF exports are set in
#   system.sh browser    Chromium, in which the pages are tested
set -eu

case "${1:-}" in
  fonts)   packages="fontconfig fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji" ;;
  browser) packages="chromium" ;;
  *)       echo "usage: $0 fonts|browser" >&2; exit 2 ;;
esac

missing=""
for package in $packages; do
  dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then become=""; else become="sudo -n"; fi
if ! command -v apt-get >/dev/null || ! $become true 2>/dev/null; then
  echo "Not installed (no apt-get, or no right to use it):$missing" >&2
  exit 0
fi
echo "Installing$missing"
# Lists that a machine already has may do; a fresh one has none.
$become apt-get install --yes --quiet --no-install-recommends $missing >/dev/null 2>&1 || {
  $become apt-get update --quiet >/dev/null
  $become env DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --no-install-recommends $missing >/dev/null
}
