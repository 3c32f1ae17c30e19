#!/bin/sh
# Checks the files of a release in a folder: that all are there and have their checksums,
# and that the archive and the package for this machine hold programs that run. What
# this machine has no tool for is named. It installs nothing. BUILT has the programs that
# were put into the image, by platform.
#
#   check.sh dist BUILT
set -eu

dist=$1 built=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

fail() {
	echo "release: $1" >&2
	exit 1
}

version=$(sh "$(dirname "$0")/version.sh")
for platform in linux_amd64 linux_arm64 darwin_arm64; do
	archive=$dist/errata_${version}_$platform.tar.gz
	set -- "$archive" "$archive.cdx.json"
	[ "$platform" = darwin_arm64 ] || set -- "$@" "${archive%.tar.gz}.deb" "${archive%.tar.gz}.rpm"
	for file in "$@"; do
		[ -s "$file" ] || fail "$file is missing"
		grep -q "  ${file##*/}\$" "$dist/checksums.txt" || fail "checksums.txt does not name ${file##*/}"
	done
done
image=errata_${version}_image.tar
[ -s "$dist/$image" ] || fail "$dist/$image is missing"
grep -q "  $image\$" "$dist/checksums.txt" || fail "checksums.txt does not name $image"
for platform in linux_amd64 linux_arm64; do
	name=errata_${version}_$platform
	tar -xzOf "$dist/$name.tar.gz" "$name/errata" | cmp - "$built/$platform/errata" ||
		fail "the program of the image is not that of $name.tar.gz"
done
echo "release: the image holds the programs of the archives"
if command -v sha256sum >/dev/null; then
	(cd "$dist" && sha256sum --quiet -c checksums.txt) || fail "checksums.txt does not fit"
else
	(cd "$dist" && shasum -a 256 --quiet -c checksums.txt) || fail "checksums.txt does not fit"
fi

# runs checks that a program says the version of the release.
runs() {
	said=$("$1" version)
	case "$said" in
	"errata $version "*) echo "release: ${1#"$work"/}: $said" ;;
	*) fail "$1 says $said, and this is $version" ;;
	esac
}

here=$(uname -s | tr A-Z a-z)_$(uname -m | sed 's/x86_64/amd64/; s/aarch64/arm64/')
name=errata_${version}_$here
if [ -f "$dist/$name.tar.gz" ]; then
	mkdir "$work/archive"
	tar -xzf "$dist/$name.tar.gz" -C "$work/archive"
	runs "$work/archive/$name/errata"
fi
if [ -f "$dist/$name.deb" ] && command -v dpkg-deb >/dev/null; then
	dpkg-deb -x "$dist/$name.deb" "$work/deb"
	runs "$work/deb/usr/bin/errata"
	started=$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$work/deb/usr/lib/systemd/system/errata.service")
	[ -x "$work/deb$started" ] || fail "the unit starts $started, which the package does not have"
	[ -x "$work/deb/usr/bin/errata-engine" ] || fail "the package has no errata-engine"
else
	echo "release: the deb was not unpacked: no dpkg-deb, or none for $here"
fi
if command -v rpm >/dev/null && command -v dpkg-deb >/dev/null; then
	dpkg-deb -c "$dist/errata_${version}_linux_amd64.deb" | awk '$1 !~ /^d/ {print substr($6, 2)}' | sort >"$work/in-deb"
	rpm -qp --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' "$dist/errata_${version}_linux_amd64.rpm" | awk '$1 !~ /^d/ {print $2}' | sort >"$work/in-rpm"
	cmp "$work/in-deb" "$work/in-rpm" || fail "deb and rpm hold different files"
	echo "release: deb and rpm hold the same files"
else
	echo "release: the rpm was not compared with the deb: no rpm, or no dpkg-deb"
fi
echo "release: $version is in $dist"
