#!/bin/sh
# Installs podman, and makes the images that the tests and the Dockerfiles name, in the
# folder that is given. What is there already stays until what it is made from changes.
# engine.sh calls it.
#
# The base images are Debian with the Go of this machine and the npm of Debian. NATS is
# the program of the same version, and ClickHouse the same version as a library, so a
# pulled image may differ in all that surrounds these.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
dir=$1
say() { echo "containers: $*" >&2; }

if ! { command -v podman && command -v debootstrap && command -v busybox && command -v iptables; } >/dev/null; then
	say "installing podman"
	{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
		podman buildah netavark aardvark-dns runc iptables debootstrap busybox-static >/dev/null; } ||
		{ say "cannot install podman, debootstrap and busybox-static; this needs root on Debian, or a Docker that answers"; exit 1; }
fi

# Without limits of its own podman asks for more than a root without every capability may
# set. Names without a registry are local images.
cat >"$dir/containers.conf" <<-END
	[containers]
	default_ulimits = ["nofile=10000:10000", "nproc=10000:10000"]
	[engine]
	runtime = "runc"
	cgroup_manager = "cgroupfs"
	events_logger = "file"
	compat_api_enforce_docker_hub = false
	[network]
	network_backend = "netavark"
	network_config_dir = "$dir/networks"
END
cat >"$dir/storage.conf" <<-END
	[storage]
	driver = "overlay"
	graphroot = "$dir/storage"
	runroot = "$dir/run"
END

# On the disk, because a root of Debian needs devices and programs in it.
work=$(mktemp -d "$dir/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

sum=$(cat "$0" "$here"/images/*.Dockerfile "$here"/images/clickhouse/* "$root/engine/fetch-libchdb.sh" "$root"/cmd/errata-engine/*.go | sha256sum)
if [ "$(cat "$dir/made" 2>/dev/null)" != "$sum" ]; then
	podman rmi --all --force >/dev/null
	echo "$sum" >"$dir/made"
fi
has() { podman image exists "$1"; }

# build NAME makes an image of that name from the file of the same name in images/, and
# from what is in the folder $work/context.
build() {
	say "making $1"
	podman build --quiet --tag "$1" --file "$here/images/$2.Dockerfile" "$work/context" >/dev/null
	rm -rf "$work/context"
}

if ! has debian:bookworm-slim; then
	say "making debian:bookworm-slim"
	debootstrap --variant=minbase bookworm "$work/debian" >"$dir/debootstrap.log" 2>&1 ||
		{ tail -n 5 "$dir/debootstrap.log" >&2; exit 1; }
	for left in var/cache/apt var/lib/apt/lists usr/share/doc usr/share/man usr/share/info usr/share/locale var/log; do
		find "$work/debian/$left" -mindepth 1 ! -type d -delete
	done
	tar -C "$work/debian" --numeric-owner -c . | podman import --quiet - debian:bookworm-slim >/dev/null
	rm -rf "$work/debian"
fi

if ! has golang:1.26-bookworm; then
	mkdir "$work/context"
	cp -a "$(go env GOROOT)/." "$work/context/go"
	build golang:1.26-bookworm golang
fi

node=$(sed -n 's/^FROM .*\(node:[^ ]*\) .*/\1/p' "$root/deploy/Dockerfile.all")
if ! has "$node"; then
	mkdir "$work/context"
	build "$node" node
fi

nats=$(sed -n 's/.*image: \(nats:.*\)/\1/p' "$root/docker-compose.yml")
if ! has "$nats"; then
	version=${nats#nats:}
	mkdir "$work/context"
	CGO_ENABLED=0 GOFLAGS='' GOBIN="$work/context" go install "github.com/nats-io/nats-server/v2@v${version%-alpine}"
	cp "$(command -v busybox)" "$work/context/busybox"
	build "$nats" nats
fi

clickhouse=$(sed -n 's/.*image: \(clickhouse.*\)/\1/p' "$root/docker-compose.yml")
if ! has "$clickhouse"; then
	library=$(sh "$root/engine/fetch-libchdb.sh")
	mkdir "$work/context"
	(cd "$root" && CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$work/context/" ./cmd/errata-engine)
	ln "$library" "$work/context/" 2>/dev/null || cp "$library" "$work/context/"
	cp "$(command -v busybox)" "$work/context/busybox"
	cp "$here"/images/clickhouse/* "$work/context/"
	build "$clickhouse" clickhouse
fi

if ! [ -x "$dir/compose/bin/podman-compose" ]; then
	say "fetching podman-compose"
	python3 -m venv "$dir/compose"
	"$dir/compose/bin/pip" install --quiet podman-compose==1.6.0
fi
