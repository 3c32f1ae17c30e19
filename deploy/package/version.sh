#!/bin/sh
# Prints the version of a release, as packages and file names have it, from the tags:
#
#   v1.4.0                      1.4.0
#   v1.5.0-rc.1                 1.5.0-rc.1, which packages sort before 1.5.0
#   three commits after v1.4.0  1.4.0+3.gc957a1dd, which packages sort after 1.4.0
#   no tag                      0.0.0+COMMITS.gc957a1dd
#
# Uncommitted changes add "dirty".
set -eu
described=$(git describe --tags --match 'v[0-9]*' --long --abbrev=8 2>/dev/null) ||
	described=v0.0.0-$(git rev-list --count HEAD)-g$(git rev-parse --short=8 HEAD)
tag=${described%-*-g*}
after=${described#"$tag"-}
more=
[ "${after%%-*}" = 0 ] || more=+${after%%-*}.${after#*-}
[ -z "$(git status --porcelain --untracked-files=no)" ] || more=${more:-+0}.dirty
echo "${tag#v}$more"
