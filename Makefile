# Errata. `make` lists the targets; `make run` starts it, `make test` tests it.

GO    ?= go
CACHE := $(or $(ERRATA_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/errata)

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# Without a commit to read, a checkout of another user among them, the go
# command would fail where it is told to stamp one.
VCS     := $(shell git rev-parse --verify -q HEAD >/dev/null 2>&1 && echo true || echo false)
GOFILES  = $$(find . -name '*.go' -not -path '*/node_modules/*' -not -path './data/*')

# The race detector needs a C compiler and nothing else does.
CC_FOUND = $(shell command -v $$($(GO) env CC | cut -d' ' -f1) 2>/dev/null)
RACE     = $(if $(CC_FOUND),$(LEAN_RACE))
# The guard against a test that hangs; the slowest package takes four minutes
# on two idle cores.
TESTFLAGS ?= -timeout 15m

GOLANGCI_VERSION = v2.15.0
GOLANGCI         = $(CACHE)/golangci-lint-$(GOLANGCI_VERSION)/golangci-lint

# As far as they are there.
CLIENT_TESTS = $(patsubst %,./%/...,$(wildcard test/emitters test/clients))

# What is compiled is compiled without debug information, which the linker of the
# product and of tests leaves out anyway: an eighth less time. The tag takes
# MessagePack out of Gin, which nothing here uses.
LEAN = -gcflags=all=-dwarf=false
# With the race detector nothing is inlined either: compiling takes a quarter less time, and
# the tests hardly more.
LEAN_RACE = -race -gcflags=all='-dwarf=false -l'
TAGS = nomsgpack

# Without the race detector everything is compiled as the product is, so that tests
# and the binaries that they build share it (test/product has the same flags).
PLAIN       = CGO_ENABLED=0 $(GO)
PLAIN_FLAGS = -trimpath $(LEAN)

# The garbage collector runs less often in the compiler and in tests, as long as
# a process is small. With the race detector a process would sleep for a second
# before it ends.
FAST = GOGC=400 GOMEMLIMIT=2GiB GORACE="atexit_sleep_ms=0 $(GORACE)"

# Two more at the same time than there are processors, because many mostly wait: for
# starts, for the disk, for processes that they kill. With one more, a fifth of the
# processors' time is left over.
AT_ONCE = $(shell expr $$(getconf _NPROCESSORS_ONLN) + 2)
# In these packages goroutines share memory, and their tests run with the race detector. They
# are those that need no engine: compiling the engines for it takes as long as compiling all
# the rest. `make race` runs all with it. In both lists what takes longest comes first, so that
# it does not run alone at the end.
SHARING = ./ingest/door ./ingest ./certs ./internal/background ./signin/geo ./signin/service ./signin/smtp ./standby ./stray
MODULE  = $(shell $(GO) list -m)
named   = $(patsubst $(MODULE)/%,./%,$(shell $(GO) list $(1)))
RACED   = $(if $(RACE),$(SHARING))
OTHERS  = ./test/crash ./app ./projector ./selfcheck ./query ./engine ./test/flow ./api $(filter-out $(VOLUME) $(if $(RACE),$(call named,$(SHARING))),$(call named,./...))

FUZZTIME ?= 30s
comma    := ,

.DEFAULT_GOAL := help
.PHONY: help run build engine test compile unit race vet fmt fmt-check lint fix charts check bench compare gate fuzz cover test-containers test-clients test-upgrade browser test-browser web web-check shots vuln sbom reproducible release-dry release-reproducible mutations clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## Start Errata; what is missing is built and fetched first (ARGS="--listen :9000")
	@$(MAKE) --no-print-directory -j2 build engine
	@exec bin/errata serve $(ARGS)

build: ## Build bin/errata, static, and bin/errata-engine, the embedded ClickHouse
	@$(PLAIN) build $(PLAIN_FLAGS) -tags $(TAGS) -buildvcs=$(VCS) -ldflags '-s -w -X main.version=$(VERSION)' -o bin/ ./cmd/...

# An external ClickHouse needs no library.
engine: ## Fetch libchdb once, 178 MB, into the cache folder
ifeq ($(ERRATA_CLICKHOUSE_DSN),)
	@sh engine/fetch-libchdb.sh >/dev/null
endif

# The tests build the binaries they start, with failpoints in them. What is
# downloaded comes while the first packages are compiled, and so do the tests of the page
# that need no browser: compilers and downloads leave processors idle now and then.
test: fmt-check ## Everything that must hold: format, house rules, all tests on real engines
	@$(MAKE) --no-print-directory -j4 compile engine browser web-check
	@$(MAKE) --no-print-directory unit
	@$(MAKE) --no-print-directory test-browser

compile:
	$(FAST) $(PLAIN) build $(PLAIN_FLAGS) -tags $(TAGS) ./...

unit:
	@echo "race detector: $(if $(RACE),on,off$(comma) no C compiler found)"
	@$(FAST) $(PLAIN) test $(PLAIN_FLAGS) -tags $(TAGS) -count=1 -v -run '^TestTwoTestsShareNothing$$' ./test/testenv | grep '^testenv:'
	@$(MEMORY); \
	$(FAST) $(PLAIN) test -vet=off $(IN_MEMORY) -p $(AT_ONCE) $(PLAIN_FLAGS) -tags $(TAGS) $(TESTFLAGS) $(OTHERS); \
	$(if $(RACE),$(FAST) $(GO) test -vet=off $(IN_MEMORY) -p $(AT_ONCE) $(RACE) -tags $(TAGS) $(TESTFLAGS) $(RACED))
	$(PLAIN) test -vet=off $(PLAIN_FLAGS) -tags $(TAGS) $(TESTFLAGS) $(VOLUME)

race: engine ## Run all tests but those of the page under the race detector
	$(FAST) $(GO) test -vet=off $(RACE) -tags $(TAGS) $(TESTFLAGS) ./...

# With their temporary files in memory, where that is possible.
MEMORY    = export ERRATA_TEST_MEMORY=/dev/shm/errata-tests-$$$$; \
	trap 'rm -rf $$ERRATA_TEST_MEMORY' EXIT; trap 'exit 1' INT TERM; set -ex
IN_MEMORY = -exec 'sh $(CURDIR)/test/inmemory.sh'

# The packages with tests that measure memory or the cost of large requests, or do much
# in one goroutine. With the race detector they would take eight times as long and measure
# something else. The collector works as in the product.
VOLUME = $(patsubst %/,./%,$(sort $(dir $(shell grep -rl '^//go:build !race' --include='*_test.go' ingest))))

# With the flags of the tests, so that both share what is compiled.
vet:
	$(FAST) $(PLAIN) vet $(PLAIN_FLAGS) -tags $(TAGS),browser,upgrade ./...

fmt: ## Format the Go files
	@gofmt -w $(GOFILES)

fmt-check:
	@unformatted=$$(gofmt -l $(GOFILES)); \
	if [ -n "$$unformatted" ]; then echo "gofmt: run 'make fmt' for"; echo "$$unformatted"; exit 1; fi

lint: $(GOLANGCI) ## Run the linter of .golangci.yml, built once into the cache folder
	$(GOLANGCI) run ./...

fix: $(GOLANGCI) fmt ## Format, and apply what the linter can mend by itself
	$(GOLANGCI) run --fix ./...

$(GOLANGCI):
	@echo "building golangci-lint $(GOLANGCI_VERSION), once, which takes minutes"
	@GOBIN=$(@D) GOFLAGS= $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)

HELM_VERSION      = v3.22.0
HELM              = $(CACHE)/helm-$(HELM_VERSION)/helm
KUSTOMIZE_VERSION = v5.8.2
KUSTOMIZE         = $(CACHE)/kustomize-$(KUSTOMIZE_VERSION)/kustomize

$(HELM):
	@echo "building helm $(HELM_VERSION), once, which takes minutes"
	@CGO_ENABLED=0 GOBIN=$(@D) GOFLAGS= $(GO) install -ldflags '-s -w' helm.sh/helm/v3/cmd/helm@$(HELM_VERSION)

$(KUSTOMIZE):
	@echo "building kustomize $(KUSTOMIZE_VERSION), once"
	@CGO_ENABLED=0 GOBIN=$(@D) GOFLAGS= $(GO) install -ldflags '-s -w' sigs.k8s.io/kustomize/kustomize/v5@$(KUSTOMIZE_VERSION)

# Each run renders again: the go command does not see what the two programs read.
charts: $(HELM) $(KUSTOMIZE) ## Render the Helm chart and the kustomize base for Kubernetes, and check what comes out
	cd deploy/kubetest && $(GO) vet . && HELM=$(abspath $(HELM)) KUSTOMIZE=$(abspath $(KUSTOMIZE)) $(GO) test -count=1 .

check: fmt-check vet lint charts ## Everything that can be said without running the engines
	$(GO) vet -tags containers ./test/testenv ./test/containers
	$(GO) test ./internal/archtest ./deploy
	$(GO) mod tidy -diff
	cd test/dashboards/promql && $(GO) mod tidy -diff
	cd test/acme/pebble && $(GO) mod tidy -diff
	cd deploy/kubetest && $(GO) mod tidy -diff

bench: build engine ## Print the speed of the whole way, with the ceilings of the same run
	$(GO) run ./test/bench $(ARGS)

compare: build ## Measure any server that speaks the Sentry protocol beside a null sink (ARGS="--dsn http://KEY@HOST:PORT/PROJECT")
	@bin/errata bench $(ARGS)

# As root on Debian; with ARGS=-no-root what needs mounts is left out.
GATE ?= short

gate: build engine ## Let faults happen to the service and compare every record (GATE=full: for hours; root)
	@$(call need,mkfs.ext4:e2fsprogs)
	$(GO) run ./test/gate -form $(GATE) $(ARGS)

fuzz: ## Run every fuzz target for FUZZTIME (30s)
	@grep -rlE '^func Fuzz' --include='*_test.go' . | while read -r file; do \
		for target in $$(sed -nE 's/^func (Fuzz[A-Za-z0-9_]*)\(.*/\1/p' "$$file"); do \
			echo "$$(dirname "$$file") $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "$$(dirname "$$file")" || exit 1; \
		done; \
	done

cover: engine ## Measure how much of the code the tests run, into bin/cover.html
	$(GO) test $(TESTFLAGS) -coverpkg=./... -coverprofile=bin/cover.out ./...
	@$(GO) tool cover -html=bin/cover.out -o bin/cover.html
	@$(GO) tool cover -func=bin/cover.out | tail -n 1

# With the flags of the other tests; the race detector is in `make race`. What is made
# for it, an engine and images, stays in the cache folder. The first run builds the images
# of the product, which takes minutes.
CONTAINER_TESTS ?= ./...

test-containers: ## Run the tests on engines in containers, and the images of the product; on Debian without Docker it makes podman and all images (root)
	$(FAST) CGO_ENABLED=0 ERRATA_TEST_CONTAINERS=1 sh test/containers/engine.sh \
		$(GO) test -vet=off $(PLAIN_FLAGS) -tags $(TAGS),containers $(TESTFLAGS) -timeout 45m -count=1 $(CONTAINER_TESTS)

# The version before this one: the tag before this commit. The first that can be a cluster
# has no tag.
FROM ?= $(or $(shell git describe --tags --abbrev=0 HEAD^ 2>/dev/null),ae591f68)

test-upgrade: engine ## Update a cluster node by node from an earlier version to this one, and back, and let three nodes become five, while events are sent (FROM=REVISION)
	$(FAST) ERRATA_UPGRADE_FROM=$(FROM) $(PLAIN) test -vet=off $(PLAIN_FLAGS) -tags $(TAGS),upgrade -timeout 30m -count=1 -v -run '^TestUpgrade' ./test/crash

# The admin page. What is built of it is committed, so that building Errata
# needs no npm.
WEB_PACKAGES = web/node_modules/.package-lock.json

$(WEB_PACKAGES): web/package.json web/package-lock.json
	cd web && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

web: $(WEB_PACKAGES) ## Build the admin page into web/dist
	cd web && npm run --silent build

# Who changed the page and forgot to build it is told so here.
web-check: $(WEB_PACKAGES) ## Test the page's pure parts, and that web/dist is what its sources make
	cd web && npm run --silent test && npm run --silent build
	@if git rev-parse --verify -q HEAD >/dev/null 2>&1 && [ -n "$$(git status --porcelain -- web/dist)" ]; then \
		git --no-pager diff --stat -- web/dist; git status --short -- web/dist; \
		echo "web/dist is not what the sources make: run 'make web' and commit it" >&2; exit 1; \
	fi

# Programs that some tests run, each with the Debian package it comes from.
need = missing=; for pair in $(1); do \
		command -v $${pair%%:*} >/dev/null || missing="$$missing $${pair\#*:}"; \
	done; \
	if [ -n "$$missing" ]; then \
		echo "installing$$missing"; \
		{ command -v apt-get >/dev/null && apt-get update -qq && \
			DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null; } || \
		{ echo "$@: cannot install$$missing; install them by hand, or run this as root on Debian" >&2; exit 1; }; \
	fi

browser: $(WEB_PACKAGES)
	@$(call need,node:nodejs chromium-headless-shell:chromium-headless-shell)

test-browser: engine browser ## Run the page in Chromium against the service; installs Chromium and node (Debian) where they are missing
	@$(MEMORY); \
	$(FAST) $(PLAIN) test $(PLAIN_FLAGS) -vet=off $(IN_MEMORY) -tags $(TAGS),browser -count=1 -parallel $(AT_ONCE) $(TESTFLAGS) -run '^TestPage$$' ./test/browser

shots: engine browser ## Take pictures of every view of the page into bin/shots
	@mkdir -p bin/shots
	ERRATA_SHOTS=$(CURDIR)/bin/shots $(GO) test -tags browser -count=1 $(TESTFLAGS) -run '^TestPictures$$' ./test/browser

CLIENT_PACKAGES = test/clients/node_modules/.package-lock.json

$(CLIENT_PACKAGES): test/clients/package.json test/clients/package-lock.json
	cd test/clients && npm ci --loglevel=error
	@touch $@

test-clients: engine ## Run the tests with clients of other languages; installs php, node, chromium, python3 and java (Debian) where they are missing
	@$(call need,php:php-cli node:nodejs npm:npm chromium:chromium python3:python3 java:default-jre-headless)
	@python3 -c 'import ensurepip' 2>/dev/null || { apt-get install -y -qq --no-install-recommends python3-venv >/dev/null; }
	@$(MAKE) --no-print-directory $(CLIENT_PACKAGES)
	@php -m | grep -qx curl || { apt-get install -y -qq --no-install-recommends php-curl >/dev/null; }
	$(GO) vet -tags clients $(CLIENT_TESTS)
	$(GO) test -tags clients -count=1 $(TESTFLAGS) $(CLIENT_TESTS)

mutations: engine ## Break each promise on purpose and see the tests notice (ARGS="-only NAME")
	$(GO) run ./test/mutations $(ARGS)

GOVULNCHECK_VERSION = v1.9.0
GOVULNCHECK         = $(CACHE)/govulncheck-$(GOVULNCHECK_VERSION)/govulncheck

$(GOVULNCHECK):
	@GOBIN=$(@D) GOFLAGS= $(GO) install golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK_VERSION)

vuln: $(GOVULNCHECK) ## Look for known holes in what is linked; fails where the database of the Go project does not answer
	$(GOVULNCHECK) ./...

sbom: build ## Write what is in the programs (CycloneDX) into bin/sbom.cdx.json, list the licences, fail at one that does not fit
	$(GO) run ./deploy/sbom -o bin/sbom.cdx.json bin/errata bin/errata-engine

reproducible: ## Build the last commit twice, in two places with caches of their own, and compare the programs byte by byte
	@sh deploy/reproducible.sh

GORELEASER_VERSION = v2.16.0
GORELEASER         = $(CACHE)/goreleaser-$(GORELEASER_VERSION)/goreleaser

$(GORELEASER):
	@echo "building goreleaser $(GORELEASER_VERSION), once, which takes minutes"
	@CGO_ENABLED=0 GOBIN=$(@D) GOFLAGS= $(GO) install github.com/goreleaser/goreleaser/v2@$(GORELEASER_VERSION)

# The key is one of gpg's.
SIGN_KEY ?=

# One at a time, because an archive has its programs in the order in which they were
# ready, and two runs must make the same bytes. The image is made first, because
# goreleaser lists it in checksums.txt, and check.sh compares its programs with those that
# goreleaser builds.
release-dry: $(GORELEASER) ## Make all files of a release in dist/ and check them, upload nothing (SIGN_KEY=… signs)
	@rm -rf bin/package && mkdir -p bin/package && sh deploy/package/unit.sh >bin/package/errata.service
	@version=$$(sh deploy/package/version.sh) && set -- && for arch in amd64 arm64; do \
		echo "building the program of the image for linux/$$arch" && \
		GOOS=linux GOARCH=$$arch $(PLAIN) build $(PLAIN_FLAGS) -tags $(TAGS) -buildvcs=true -ldflags "-s -w -X main.version=$$version" \
			-o bin/package/linux_$$arch/errata ./cmd/errata && set -- "$$@" bin/package/linux_$$arch/errata || exit 1; \
	done && $(GO) run ./deploy/image -version "$$version" -revision "$$(git rev-parse HEAD)" \
		-created "$$(git show -s --format=%cI HEAD)" -o "bin/package/errata_$${version}_image.tar" "$$@"
	@RELEASE_VERSION=$$(sh deploy/package/version.sh) SIGN_KEY='$(SIGN_KEY)' \
		$(GORELEASER) release --snapshot --clean --parallelism 1 --config deploy/package/goreleaser.yml $(if $(SIGN_KEY),,--skip=sign)
	@mv bin/package/errata_*_image.tar dist/
	@sh deploy/package/check.sh dist bin/package
	@$(if $(SIGN_KEY),,echo "checksums.txt is not signed: no key is given (make release-dry SIGN_KEY=FINGERPRINT)")

release-reproducible: $(GORELEASER) ## Make the release of the last commit twice, in two places, and compare all files byte by byte
	@sh deploy/reproducible.sh release

clean: ## Remove what was built; data and cache stay
	rm -rf bin dist
