#!/bin/sh
# Fetches libchdb, the ClickHouse engine as a library, into the cache folder and
# prints its path. It fetches nothing when the library is there already.
#
#   fetch-libchdb.sh           fetches the archive with npm
#   fetch-libchdb.sh ARCHIVE   takes an archive that npm has fetched on another machine
#   fetch-libchdb.sh -n        fetches nothing, and ends with 1 when the library is not there
#
#   ERRATA_CACHE   the cache folder; default $XDG_CACHE_HOME/errata or ~/.cache/errata
#
# It checks the archive's SHA-256 before it unpacks the archive. At the end it
# renames the library into place, so that two runs at once, or one that breaks off,
# do no harm.
set -eu

version=26.7.3-stable.1
package=@chdb/lib-linux-x64-gnu
sha256=c0d32b129e988f2b9a9a31c9141aecf5e1e2453f9a079efc4d36ab8e3f92b2ad
# Bytes of the unpacked library, to recognise a file that a power cut has left incomplete.
size=566330096

fail() {
	echo "fetch-libchdb: $1" >&2
	exit 1
}

instead="set ERRATA_CLICKHOUSE_DSN to use a ClickHouse server instead"

case "$(uname -s)-$(uname -m)" in
Linux-x86_64) ;;
*) fail "the embedded ClickHouse is brought for Linux on x86-64 with glibc only, this is $(uname -s) on $(uname -m); $instead" ;;
esac
if ldd --version 2>&1 | grep -qi musl; then
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

whole() {
	[ -f "$1" ] && [ "$(wc -c <"$1")" -eq "$size" ]
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
for tool in tar sha256sum; do
	command -v "$tool" >/dev/null 2>&1 || fail "$tool is needed to bring the embedded ClickHouse and was not found; install it, or $instead"
done

mkdir -p "$folder" || fail "cannot make the cache folder $folder; set ERRATA_CACHE to a folder that can be written"
work=$(mktemp -d "$folder/incoming.XXXXXX") || fail "cannot write in $folder; set ERRATA_CACHE to a folder that can be written"
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

archive=$given
if [ -z "$archive" ]; then
	echo "fetch-libchdb: downloading $package@$version (178 MB, once) to $folder" >&2
	(cd "$work" && npm pack "$package@$version" --loglevel=error >npm.out) ||
		fail "npm could not download $package@$version; its message stands above. Try again when the registry can be reached, or $instead"
	for found in "$work"/*.tgz; do
		archive=$found
	done
	[ -f "$archive" ] || fail "npm left no archive of $package@$version"
fi

got=$(sha256sum "$archive")
got=${got%% *}
[ "$got" = "$sha256" ] || fail "the archive of $package@$version has SHA-256 $got and must have $sha256; it was not unpacked"

tar -xzmf "$archive" -C "$work" package/libchdb.so || fail "cannot unpack $archive; is the disk full?"
whole "$work/package/libchdb.so" || fail "the unpacked library does not have $size bytes"
# Others may read it, such as the user of the service, whatever the umask is.
chmod 0755 "$folder"
chmod 0644 "$work/package/libchdb.so"
mv -f "$work/package/libchdb.so" "$library"
echo "$library"
