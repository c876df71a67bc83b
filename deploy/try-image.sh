#!/bin/sh
# Builds the image of the Dockerfile without Docker and without a registry, and starts it.
#
#     sudo PORT=8080 deploy/try-image.sh [OPTION OF buildah build …]
#
# It needs root, Debian 12, buildah, debootstrap and curl, and the network that the steps need. Where
# packages come from a mirror, give its configuration on: --volume /etc/pip.conf:/etc/pip.conf:ro
#
# Not checked: the base image (a Debian with its own Python stands in for it), `docker build`,
# HEALTHCHECK as a container engine runs it, the limits of a container (a chroot has none, so the
# file system is not read-only), other architectures, and Kubernetes.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
server=
port=${PORT:-8080}
build() { buildah --root "$work/images" --runroot "$work/run" --storage-driver vfs "$@"; }
finish() {
    # Its own process, not the shell's: it passes the signal on to the server.
    [ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null || true
    build rm --all >/dev/null 2>&1 || true
    rm -rf "$work"
}
trap finish EXIT

echo "1. A Debian that stands in for the base image"
debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates bookworm "$work/debian" \
    > "$work/debian.log"
base=$(build from scratch)
build add --quiet "$base" "$work/debian" / >/dev/null
image=$(sed -n 's/^FROM \([^ ]*\).*/\1/p' "$root/deploy/Dockerfile" | head -n 1)
build commit --quiet "$base" "docker.io/library/$image" >/dev/null
rm -rf "$work/debian"

echo "2. Every step of the Dockerfile"
build build --isolation chroot --pull-never --format docker "$@" \
    --file "$root/deploy/Dockerfile" --tag bowerbird "$root"

echo "3. The image as it says it is started"
build inspect --type image --format \
    'user {{.OCIv1.Config.User}}, entry {{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.Cmd}}' bowerbird
container=$(build from --pull-never bowerbird)
build run --isolation chroot "$container" -- bowerbird --version
buildah --root "$work/images" --runroot "$work/run" --storage-driver vfs \
    run --isolation chroot --env BOWERBIRD_PORT="$port" "$container" -- bowerbird serve \
    > "$work/server.log" 2>&1 &
server=$!
tries=0
until curl --silent --fail --output /dev/null "http://127.0.0.1:$port/readyz"; do
    tries=$((tries + 1))
    [ "$tries" -lt 60 ] || { cat "$work/server.log"; exit 1; }
    sleep 1
done
build run --isolation chroot --env BOWERBIRD_PORT="$port" "$container" -- \
    python /opt/bowerbird/deploy/healthcheck.py
echo "The image was built and serves. What was not checked is said above in this script."
