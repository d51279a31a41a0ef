# The same targets by hand and in continuous integration (.ci/run).

GO ?= go

# Tools are pinned here and run from the module cache: they stay out of go.mod.
STATICCHECK   = honnef.co/go/tools/cmd/staticcheck@v0.8.2
WORKFLOWCHECK = go.temporal.io/sdk/contrib/tools/workflowcheck@v0.6.0

# Packages whose code runs in parallel, for which the race detector's tenfold
# slowness pays. Measurements on other people's data are left out of it.
RACE = ./internal/fetch/... ./internal/politeness/... ./internal/frontier/... \
       ./internal/crawl/... ./internal/document/... ./internal/sampleweb/...

# One Postgres and one Temporal server for all packages (see devstack/devtest).
WITHSTACK = $(GO) run ./internal/devstack/cmd/withstack

.PHONY: help build test race check format vet staticcheck house workflowcheck clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## bin/starter and bin/worker
	$(GO) build -o bin/ ./starter ./worker

test: ## every test, those on a real Temporal server and a real Postgres included
	$(WITHSTACK) $(GO) test -timeout 15m ./...

race: ## the packages that run in parallel, under the race detector (needs a C compiler)
	@if [ "$$($(GO) env CGO_ENABLED)" = 1 ] && command -v "$$($(GO) env CC)" >/dev/null; then \
		GLEANER_SHARED=none $(WITHSTACK) $(GO) test -race -short -timeout 10m $(RACE); \
	else echo "race: no C compiler, left out"; fi

check: format vet house workflowcheck staticcheck ## everything but the tests

format: ## is every file formatted
	@out=$$(gofmt -l $$($(GO) list -f '{{.Dir}}' ./...)); if [ -n "$$out" ]; then echo "not formatted:"; echo "$$out"; exit 1; fi

vet:
	$(GO) vet ./...

house: ## import rules, sizes, deployment files
	$(GO) test -count=1 ./internal/housetest/

workflowcheck: ## nothing in a workflow is non-deterministic
	$(GO) run $(WORKFLOWCHECK) -config workflowcheck.config.yaml ./workflows/...

staticcheck:
	$(GO) run $(STATICCHECK) ./...

clean:
	rm -rf bin
