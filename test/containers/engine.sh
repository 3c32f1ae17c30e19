#!/bin/sh
# Runs a command with a container engine: with Docker, or the engine that DOCKER_HOST
# names, where that answers, else with podman and images that are made here.
#
#   engine.sh COMMAND...
#
# The second needs Debian and root. It changes no image and no setting of a podman that
# somebody else uses: configuration, images and volumes are in a folder of their own.
#
#   ERRATA_CACHE   the cache folder; default $XDG_CACHE_HOME/errata or ~/.cache/errata
set -eu

here=$(cd "$(dirname "$0")" && pwd)
if docker info >/dev/null 2>&1; then
	echo "engine.sh: the container engine is Docker" >&2
	export ERRATA_TEST_ENGINE=docker ERRATA_TEST_COMPOSE="docker compose"
	exec "$@"
fi

cache=${ERRATA_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/errata}
dir=$cache/containers
mkdir -p "$dir"
export CONTAINERS_CONF="$dir/containers.conf" CONTAINERS_STORAGE_CONF="$dir/storage.conf"
# The format that keeps the health check of an image.
export BUILDAH_FORMAT=docker

# Two runs would take each other's containers away.
exec 9>"$dir/lock"
flock -n 9 || { echo "engine.sh: another run uses $dir" >&2; exit 1; }

sh "$here/prepare.sh" "$dir" 9>&-

# Twice, because one that is just starting again cannot be removed.
empty() { podman rm --all --force --time 0 >/dev/null 2>&1 || podman rm --all --force --time 0 >/dev/null; }

# What a killed run has left.
empty
podman volume prune --force >/dev/null
podman network prune --force >/dev/null
podman image prune --force --filter until=24h >/dev/null # stages of builds before today

podman system service --time 0 "unix://$dir/podman.sock" >"$dir/service.log" 2>&1 9>&- &
service=$!
# Podman lets systemd run health checks. Where there is none, this does.
if ! [ -d /run/systemd/system ]; then
	while sleep 1; do
		for id in $(podman ps --quiet --filter health=starting --filter health=healthy --filter health=unhealthy); do
			podman healthcheck run "$id" || true
		done
	done >/dev/null 2>&1 9>&- &
	checks=$!
fi
trap 'kill $service ${checks:-} 2>/dev/null || true' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

echo "engine.sh: the container engine is podman, with images that were made here; it can pull none" >&2
export DOCKER_HOST="unix://$dir/podman.sock" TESTCONTAINERS_RYUK_DISABLED=true
export ERRATA_TEST_ENGINE=podman ERRATA_TEST_COMPOSE="$dir/compose/bin/podman-compose"
code=0
"$@" 9>&- || code=$?
empty
exit $code
