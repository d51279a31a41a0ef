# The same targets by hand and in continuous integration (.ci/run).

GO ?= go

# Checkouts in different folders share the build cache.
export GOFLAGS := $(filter-out -trimpath,$(GOFLAGS)) -trimpath

# Tools are pinned here and run from the module cache: they stay out of go.mod.
STATICCHECK   = honnef.co/go/tools/cmd/staticcheck@v0.8.2
WORKFLOWCHECK = go.temporal.io/sdk/contrib/tools/workflowcheck@v0.6.0
GOVULNCHECK   = golang.org/x/vuln/cmd/govulncheck@v1.8.0
GOSEC         = github.com/securego/gosec/v2/cmd/gosec@v2.29.0

# What gosec looks for and is meant here:
#   G103       the one system call by which a reader gives up its sockets
#   G104       closing a file after the error that counts
#   G115       hashes cut to size, and numbers that are bounded where they are made
#              (depths, lengths, ports); codes of a font, which only name a width
#   G122       walks over folders that nobody else writes to
#   G204 G304  programs and files that the operator or the settings name
#   G301 G302 G306  blobs and exports are there for other programs to read; what
#              holds secrets is tested by devstack.TestTheDataFolderIsTheUsersAlone
#   G401 G501 G505  MD5 and SHA-1 are names by which others know a file; what is
#              trusted is SHA-256
#   G404       jitter and generated webs, no secrets
GOSEC_EXCLUDE = G103,G104,G115,G122,G204,G301,G302,G304,G306,G401,G404,G501,G505
# Generated webs and fake services that tests and benchmarks alone run.
GOSEC_LEAVE   = -exclude-dir=internal/lab/topicweb -exclude-dir=internal/lab/sampleweb -exclude-dir=internal/lab/bench -exclude-dir=internal/lab/catalogues -exclude-dir=internal/lab/dblp

# Packages with locks whose tests need few databases, so that the race detector's tenfold
# slowness is a matter of minutes. `make soak` runs all packages under it.
RACE = ./internal/fetch/... ./internal/politeness/... ./internal/document/... ./internal/homepage/... \
       ./internal/metadata/... ./internal/library/repository/... ./internal/service/terminal/... \
       ./internal/crawl/synthesis/...

# One Postgres and one Temporal server for all packages (see devstack/devtest).
WITHSTACK = $(GO) run ./internal/devstack/cmd/withstack

# Where tests find the programs, which the rule has built.
BIN = GLEANER_TEST_BIN=$(CURDIR)/bin

# Shows what was skipped, what was slow, and the processor time.
COUNTTESTS = $(GO) run ./internal/lab/housetest/cmd/counttests

# The packages that take longest begin first. Their tests wait more than they compute,
# so that more of them run at a time than there are processors. `make check` vets them.
PACKAGES = ./starter ./activities ./worker/pool ./internal/crawl ./internal/console ./internal/library/collection ./internal/document ./internal/harvest ./internal/ingest \
           ./internal/crawl/synthesis ./internal/record/store ./...
PARALLEL = -vet=off -p 3 -parallel 4

# Processes of tests and compilers live shortly: what they collect seldom costs memory,
# which is there, and spares processor time, which is not.
SHORTLIVED = GOGC=400

# Databases and files of tests lie in memory where the system has 4 GB of it for files.
SCRATCH = $(shell awk '$$2 == "/dev/shm" && $$4 !~ /noexec/' /proc/mounts 2>/dev/null | grep -q . && \
            df -Pk /dev/shm | awk 'NR == 2 && $$4 > 4000000 {print "TMPDIR=/dev/shm"}')

SHELL = bash

.PHONY: help build man demo test soak measure chaos mutants fuzz race check format vet staticcheck house workflowcheck replaysites vulncheck gosec clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## bin/starter, bin/worker and bin/lab
	$(GO) build -o bin/ ./starter ./worker ./internal/lab/cmd/lab

man: ## the manual pages of all commands, in bin/man
	@mkdir -p bin/man
	$(GO) run ./starter man bin/man

demo: ## harvest a sample venue from a bundled sample web; installs what is missing first
	@.ci/setup demo
	$(GO) run ./starter demo

test: ## the tests, on a real Temporal server and a real Postgres; installs what is missing first, lists what was skipped
	@.ci/setup test
	@$(GO) build -o bin/ ./starter ./worker
	@GLEANER_SHARED=none $(COUNTTESTS) env $(BIN) $(SHORTLIVED) $(SCRATCH) $(WITHSTACK) $(GO) test -short -json -timeout 30m $(PARALLEL) $(PACKAGES)

soak: chaos ## what takes hours: every test in full, two hundred faults, and all packages under the race detector
	@GLEANER_SHARED=none $(COUNTTESTS) env $(BIN) $(WITHSTACK) $(GO) test -json -timeout 2h $(PACKAGES)
	@GLEANER_SHARED=none $(COUNTTESTS) env $(BIN) $(WITHSTACK) $(GO) test -race -short -json -timeout 2h $(PACKAGES)

measure: ## the tests again, and what they measure on the real sites and documents in the folder GLEANER_SHARED (an hour or more)
	@test -d "$(GLEANER_SHARED)" || { echo "needs data: make measure GLEANER_SHARED=DIR" >&2; exit 1; }
	@$(GO) build -o bin/ ./starter ./worker
	@GLEANER_SHARED=$(abspath $(GLEANER_SHARED)) $(COUNTTESTS) -logs env $(BIN) $(WITHSTACK) $(GO) test -json -timeout 2h $(PACKAGES)

chaos: build ## two hundred faults in one harvest, on real servers (Linux, root for a full disk; about half an hour)
	$(GO) run ./internal/lab/chaos/cmd/chaos -bin bin $(CHAOS)

mutants: ## break the program in one place at a time; each time its test must fail (an hour; ONLY=name for some)
	GLEANER_SHARED=none $(WITHSTACK) $(GO) run ./internal/lab/housetest/cmd/mutants $(ONLY)

fuzz: ## each fuzz target for half a minute
	@for dir in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
		for f in $$(grep -h '^func Fuzz' $$dir/*_test.go | sed 's/func \(Fuzz[A-Za-z0-9_]*\).*/\1/'); do \
			GLEANER_SHARED=none $(GO) test -run='^$$' -fuzz="^$$f\$$" -fuzztime=30s $$dir || exit 1; \
		done; done

race: ## packages with locks, under the race detector (needs a C compiler)
	@if [ "$$($(GO) env CGO_ENABLED)" = 1 ] && command -v "$$($(GO) env CC)" >/dev/null; then \
		GLEANER_SHARED=none $(WITHSTACK) $(GO) test -race -short -timeout 20m $(RACE); \
	else echo "race: no C compiler, left out"; fi

check: format vet house workflowcheck replaysites staticcheck gosec vulncheck ## everything but the tests

format: ## is every file formatted
	@out=$$(gofmt -l $$($(GO) list -f '{{.Dir}}' ./...)); if [ -n "$$out" ]; then echo "not formatted:"; echo "$$out"; exit 1; fi

vet:
	$(GO) vet ./...

house: ## import rules, sizes, deployment files
	$(GO) test -count=1 ./internal/lab/housetest/

workflowcheck: ## nothing in a workflow is non-deterministic
	$(GO) run $(WORKFLOWCHECK) -config workflowcheck.config.yaml ./workflows/...

replaysites: ## does a recorded history notice a step put before any command of the workflows
	$(GO) run ./internal/lab/housetest/cmd/replaysites

staticcheck:
	$(GO) run $(STATICCHECK) ./...

gosec: ## insecure patterns, but for those explained above
	$(GO) run $(GOSEC) -quiet -exclude=$(GOSEC_EXCLUDE) $(GOSEC_LEAVE) ./...

vulncheck: ## known weaknesses of what is imported and called
	.ci/vulncheck $(GOVULNCHECK)

clean:
	rm -rf bin
