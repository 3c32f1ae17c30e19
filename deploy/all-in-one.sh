#!/bin/sh
# Builds the image of deploy/Dockerfile.all, with both engines inside, for amd64 and arm64 at
# once. A platform whose ClickHouse library cannot be fetched is left out, and named.
#
#   sh deploy/all-in-one.sh --tag registry.example.org/errata:1.4.0 --push
#
# All arguments go to docker buildx build.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
cache=${ERRATA_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/errata}
platforms=
for platform in linux/amd64 linux/arm64; do
	# The build fetches it as well; here it shows whether that can be done.
	if said=$(ERRATA_PLATFORM=$platform ERRATA_CACHE=$cache/$platform sh "$root/engine/fetch-libchdb.sh" 2>&1); then
		platforms=${platforms:+$platforms,}$platform
	else
		printf '%s\n' "$said" "all-in-one: $platform is left out: its ClickHouse library cannot be fetched, see above" >&2
	fi
done
[ -n "$platforms" ] || exit 1
echo "all-in-one: building for $platforms"
exec docker buildx build --platform "$platforms" --file "$root/deploy/Dockerfile.all" \
	--build-arg VERSION="$(cd "$root" && sh deploy/package/version.sh)" "$@" "$root"
