# What a contributor runs, and what .ci/run runs: each command stands here once.

GOLANGCI_LINT_VERSION := v2.15.0
GOLANGCI_LINT := .tools/golangci-lint-$(GOLANGCI_LINT_VERSION)
FIXTURES_VERSION := 23.1.2
FIXTURES := .fixtures/octokit
FIXTURES_MARK := $(FIXTURES)/.$(FIXTURES_VERSION)
PEERS := .peers
JSON_SERVER_0_VERSION := 0.17.4
JSON_SERVER_1_VERSION := 1.0.0-beta.3
MCP_EVERYTHING_VERSION := 2025.12.18
SAMPLE_APISERVER_VERSION := v0.37.2
# Modules of their own, so that nobody who uses everypage inherits what they need.
MODULES := oteleverypage examples/go-github examples/postgres-incremental examples/prometheus
# How long each fuzz target runs.
FUZZTIME ?= 10s
CROSS := windows/amd64 darwin/arm64 linux/arm

SHELL := bash
.DEFAULT_GOAL := help
.PHONY: $(shell awk -F: '/^[a-z-]+:.*\#\# / { print $$1 }' Makefile)

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## compile every package
	go build ./...

vet: ## run go vet
	go vet ./...

test: ## run the tests; the real ones skip where their input is absent
	go test ./...

test-middle: ## run the property tests and the crash tests as deep as CI does
	EVERYPAGE_TIER=middle go test -count=1 -timeout 40m ./proptest/... ./store/... ./internal/kill .

test-long: ## run them as deep as they go, some 20 minutes
	EVERYPAGE_TIER=long go test -count=1 -timeout 90m ./...

fuzz: ## run each fuzz target for FUZZTIME
	@set -e; go list -f '{{.Dir}}' ./... | while read -r dir; do \
		for target in $$(grep -ho '^func Fuzz[A-Za-z0-9_]*' "$$dir"/*_test.go 2>/dev/null | cut -c6-); do \
			echo "$$dir $$target"; \
			(cd "$$dir" && go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x .); \
		done; \
	done

faults: ## plant every fault and write what catches it into docs/verification.md
	EVERYPAGE_FAULTS=write go test -count=1 -timeout 30m -v -run TestFaults ./proptest

faults-check: ## plant every fault, and fail where one is not caught by what names it
	EVERYPAGE_FAULTS=check go test -count=1 -timeout 30m -run TestFaults ./proptest

tracked-check: ## fail on a tracked file that is built, ignored or large
	@set -e; \
	ignored=$$(git ls-files --cached --ignored --exclude-standard); \
	[ -z "$$ignored" ] || { echo "tracked and ignored: $$ignored"; exit 1; }; \
	git ls-files -z | while IFS= read -r -d '' file; do \
		[ -f "$$file" ] || continue; \
		size=$$(wc -c < "$$file"); \
		[ "$$size" -le 400000 ] || { echo "$$file is too large to be kept here: $$size bytes"; exit 1; }; \
		case $$(head -c 4 "$$file" | od -An -tx1 | tr -d ' \n') in 7f454c46|4d5a9000|cffaedfe) echo "$$file is a built program"; exit 1;; esac; \
	done

race: ## run the tests under the race detector
	go test -race ./...

registry-test: ## run the tests on a real docker-registry; they fail where it is absent
	EVERYPAGE_REQUIRE_REAL=1 go test -race -count=1 -run Registry ./...

lint: $(GOLANGCI_LINT) ## run the linters and check the format
	$(GOLANGCI_LINT) run

fmt: $(GOLANGCI_LINT) ## format the code
	$(GOLANGCI_LINT) fmt

fixtures: $(FIXTURES_MARK) ## fetch the recorded walk over a real API

peers: $(PEERS)/json-server-0/.$(JSON_SERVER_0_VERSION) ## fetch and build the real servers that the peer tests walk
peers: $(PEERS)/json-server-1/.$(JSON_SERVER_1_VERSION)
peers: $(PEERS)/mcp-everything/.$(MCP_EVERYTHING_VERSION)
peers: $(PEERS)/bin/pocketbase
peers: $(PEERS)/bin/.sample-apiserver-$(SAMPLE_APISERVER_VERSION)

peers-test: ## run the tests on those servers and on etcd; they fail where one is absent
	EVERYPAGE_REQUIRE_REAL=1 go test -race -count=1 ./internal/peers ./internal/realtest

examples: ## run the tests of the examples
	go test ./examples/...

modules-test: ## vet and test the modules of their own, examples among them
	@set -e; for module in $(MODULES); do \
		echo "$$module: go vet, go test, go mod tidy -diff"; \
		(cd $$module && go vet ./... && go test ./... && go mod tidy -diff); \
	done

readme: ## follow the README word for word, in a clone
	EVERYPAGE_README=1 go test -count=1 -timeout 25m -run Readme -v ./docs

demo: ## walk, be killed, come back, and prove it
	go run ./cmd/everypage demo

BENCH_RUN = dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && cd bench && go build -o "$$dir/" . ./walker && "$$dir/bench"

bench: ## measure against the bars, on a machine that does nothing else; flags in BENCH=
	@$(BENCH_RUN) -results ../.bench -write ../docs -budget 20m $(BENCH)

bench-quick: ## a short measurement, which fails only where a promise is broken
	@$(BENCH_RUN) -quick $(BENCH)

browser-test: ## test the receipts page in a real Chromium, and tidy that module
	cd internal/browsertest && go vet ./... && go test -count=1 -timeout 15m ./... && go mod tidy -diff

bench-check: ## vet, test and tidy the benchmarks' module
	cd bench && go vet ./... && go build -o /dev/null ./... && go test ./... && go mod tidy -diff

cross: ## build for the other systems, without cgo, into dist/
	@set -e; for target in $(CROSS); do \
		echo "CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} go build -o dist/$$target/ ./..."; \
		CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} go build -o dist/$$target/ ./...; \
	done

tidy: ## bring go.mod and go.sum up to date
	go mod tidy

tidy-check: ## fail where go.mod or go.sum is not up to date
	go mod tidy -diff

ci: ## run everything that a change has to pass
	bash .ci/run

clean: ## remove what these commands made
	rm -rf .tools .fixtures .peers .bench dist

$(GOLANGCI_LINT):
	GOBIN=$(CURDIR)/.tools/new go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
	mv .tools/new/golangci-lint $@

$(FIXTURES_MARK):
	rm -rf $(FIXTURES) && mkdir -p $(FIXTURES)
	cd $(FIXTURES) && npm pack --silent @octokit/fixtures@$(FIXTURES_VERSION) && \
		tar -xzf octokit-fixtures-$(FIXTURES_VERSION).tgz --strip-components=1 && rm octokit-fixtures-$(FIXTURES_VERSION).tgz
	test -s $(FIXTURES)/scenarios/api.github.com/paginate-issues/normalized-fixture.json
	touch $@

# The packages of a peer stay in its own folder; a new version is a new mark.
NPM_INSTALL = rm -rf $(@D) && mkdir -p $(@D) && npm install --prefix $(@D) --silent --no-save --no-audit --no-fund --no-package-lock

$(PEERS)/json-server-0/.$(JSON_SERVER_0_VERSION):
	$(NPM_INSTALL) json-server@$(JSON_SERVER_0_VERSION)
	touch $@

# Later ones of its betas ask for Node.js 22.
$(PEERS)/json-server-1/.$(JSON_SERVER_1_VERSION):
	$(NPM_INSTALL) json-server@$(JSON_SERVER_1_VERSION)
	touch $@

# Its last release whose list of resources is paged.
$(PEERS)/mcp-everything/.$(MCP_EVERYTHING_VERSION):
	$(NPM_INSTALL) @modelcontextprotocol/server-everything@$(MCP_EVERYTHING_VERSION)
	touch $@

$(PEERS)/bin/pocketbase: $(wildcard internal/peers/pocketbase/*)
	cd internal/peers/pocketbase && go build -o $(CURDIR)/$@ .

# Five to six minutes of processor time, once: it is most of Kubernetes' client.
$(PEERS)/bin/.sample-apiserver-$(SAMPLE_APISERVER_VERSION):
	GOBIN=$(CURDIR)/$(@D) go install k8s.io/sample-apiserver@$(SAMPLE_APISERVER_VERSION)
	touch $@
