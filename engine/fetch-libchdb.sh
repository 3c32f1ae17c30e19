#!/bin/sh
# Fetches libchdb, the ClickHouse engine as a library, into the cache folder and
# prints its path. It fetches nothing when the library is there already.
#
#   fetch-libchdb.sh           fetches the archive with npm
#   fetch-libchdb.sh ARCHIVE   takes an archive that npm has fetched on another machine
#   fetch-libchdb.sh -n        fetches nothing, and ends with 1 when the library is not there
#
#   ERRATA_CACHE      the cache folder; default $XDG_CACHE_HOME/errata or ~/.cache/errata
#   ERRATA_PLATFORM   linux/amd64 or linux/arm64 for an image; default this machine. It
#                     wants a cache folder of its own: the library has the same name in all
#
# It checks the archive's SHA-256 before it unpacks the archive, for the platform that
# has one below. For the others npm's check is the only one: npm pack compares what it
# downloads with the record of the registry. At the end it renames the library into
# place, so that two runs at once, or one that breaks off, do no harm.
set -eu

version=26.7.3-stable.1

fail() {
	echo "fetch-libchdb: $1" >&2
	exit 1
}

instead="set ERRATA_CLICKHOUSE_DSN to use a ClickHouse server instead"

# The packages are those that the npm package chdb names. In all of them the library has
# the same name. sha256 and size, the bytes of the unpacked library, stand only beside
# what the authors could fetch.
sha256=
size=
platform=$(uname -s)-$(uname -m)
case "${ERRATA_PLATFORM:-}" in
'') ;;
linux/amd64) platform=Linux-x86_64 ;;
linux/arm64) platform=Linux-aarch64 ;;
*) fail "ERRATA_PLATFORM is $ERRATA_PLATFORM; want linux/amd64 or linux/arm64" ;;
esac
case $platform in
Linux-x86_64)
	package=@chdb/lib-linux-x64-gnu
	sha256=c0d32b129e988f2b9a9a31c9141aecf5e1e2453f9a079efc4d36ab8e3f92b2ad
	size=566330096
	;;
Linux-aarch64) package=@chdb/lib-linux-arm64-gnu ;;
Darwin-arm64) package=@chdb/lib-darwin-arm64 ;;
Darwin-x86_64) package=@chdb/lib-darwin-x64 ;;
*) fail "the embedded ClickHouse exists for Linux with glibc and macOS, on x86-64 and arm64, this is $(uname -s) on $(uname -m); $instead" ;;
esac
# macOS has no ldd.
if [ -z "${ERRATA_PLATFORM:-}" ] && [ "$(uname -s)" = Linux ] && ldd --version 2>&1 | grep -qi musl; then
	fail "the embedded ClickHouse needs glibc and this system has musl; $instead"
fi

given=${1:-}
if [ -n "${ERRATA_CACHE:-}" ]; then
	cache=$ERRATA_CACHE
elif [ -n "${XDG_CACHE_HOME:-}" ]; then
	cache=$XDG_CACHE_HOME/errata
elif [ -n "${HOME:-}" ]; then
	cache=$HOME/.cache/errata
else
	fail "no cache folder: set ERRATA_CACHE or HOME"
fi
# npm runs in another folder below, where a relative path would be another one.
case $cache in
/*) ;;
*) cache=$PWD/$cache ;;
esac
folder=$cache/libchdb-$version
library=$folder/libchdb.so

# A power cut can leave a file incomplete. Where no size is known from the start, the
# run that unpacked the library has written it down.
[ -n "$size" ] || ! [ -f "$library.size" ] || size=$(cat "$library.size")

bytes() {
	# macOS pads the number with spaces.
	echo $(($(wc -c <"$1")))
}

whole() {
	[ -f "$1" ] && [ "$(bytes "$1")" = "$size" ]
}

sum() {
	if command -v sha256sum >/dev/null 2>&1; then
		sha256sum "$1"
	else
		shasum -a 256 "$1"
	fi
}

if whole "$library"; then
	echo "$library"
	exit 0
fi

if [ "$given" = -n ]; then
	fail "$library is not there"
elif [ -n "$given" ] && ! [ -f "$given" ]; then
	fail "the archive $given does not exist"
fi
[ -n "$given" ] || command -v npm >/dev/null 2>&1 ||
	fail "npm is needed to bring the embedded ClickHouse and was not found; install it, or run 'npm pack $package@$version' on another machine and give this script the archive, or $instead"
command -v sha256sum >/dev/null 2>&1 || command -v shasum >/dev/null 2>&1 ||
	fail "sha256sum or shasum is needed to bring the embedded ClickHouse and neither was found; install one, or $instead"
command -v tar >/dev/null 2>&1 ||
	fail "tar is needed to bring the embedded ClickHouse and was not found; install it, or $instead"

mkdir -p "$folder" || fail "cannot make the cache folder $folder; set ERRATA_CACHE to a folder that can be written"
work=$(mktemp -d "$folder/incoming.XXXXXX") || fail "cannot write in $folder; set ERRATA_CACHE to a folder that can be written"
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

archive=$given
if [ -z "$archive" ]; then
	echo "fetch-libchdb: downloading $package@$version (up to 200 MB, once) to $folder" >&2
	(cd "$work" && npm pack "$package@$version" --loglevel=error >npm.out) ||
		fail "npm could not download $package@$version; its message stands above. Try again when the registry can be reached, or $instead"
	for found in "$work"/*.tgz; do
		archive=$found
	done
	[ -f "$archive" ] || fail "npm left no archive of $package@$version"
fi

got=$(sum "$archive")
got=${got%% *}
if [ -n "$sha256" ]; then
	[ "$got" = "$sha256" ] || fail "the archive of $package@$version has SHA-256 $got and must have $sha256; it was not unpacked"
else
	case $(tar -xzOf "$archive" package/package.json 2>/dev/null) in
	*"\"$package\""*"\"$version\""*) ;;
	*) fail "$archive is not the archive of $package@$version; it was not unpacked" ;;
	esac
	[ -n "$given" ] && by="npm, where it was packed," || by="npm"
	echo "fetch-libchdb: only $by has compared the archive with the record of the registry; this script knows no sum of $package. Its SHA-256 is $got" >&2
fi

tar -xzmf "$archive" -C "$work" package/libchdb.so ||
	fail "cannot unpack $archive; the archive is incomplete or the disk is full"
new=$work/package/libchdb.so
if [ -n "$sha256" ]; then
	whole "$new" || fail "the unpacked library does not have $size bytes"
else
	size=$(bytes "$new")
	echo "$size" >"$library.size"
fi
# Others may read it, such as the user of the service, whatever the umask is.
chmod 0755 "$folder"
chmod 0644 "$new"
mv -f "$new" "$library"
echo "$library"
