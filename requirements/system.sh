#!/bin/sh
# Installs system packages that pip cannot install. It needs Debian or a derivative, and root or
# sudo without a password. Otherwise it prints what is missing and changes nothing.
#   system.sh fonts      the Noto fonts for PDF exports
#   system.sh browser    Chromium and Firefox, for the tests of the web pages and of the extension
set -eu

case "${1:-}" in
  fonts)   packages="fontconfig fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji" ;;
  browser) packages="chromium firefox-esr" ;;
  *)       echo "usage: $0 fonts|browser" >&2; exit 2 ;;
esac

missing=""
for package in $packages; do
  dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then as_root=""; else as_root="sudo -n"; fi
if ! command -v apt-get >/dev/null || ! $as_root true 2>/dev/null; then
  echo "Not installed, because apt-get is missing or needs a password:$missing" >&2
  exit 0
fi
echo "Installing$missing"
# First without an update, which is faster. A new machine has no package lists, so this fails there.
$as_root apt-get install --yes --quiet --no-install-recommends $missing >/dev/null 2>&1 || {
  $as_root apt-get update --quiet >/dev/null
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --no-install-recommends $missing >/dev/null
}
