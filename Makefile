# What a contributor runs, and what .ci/run runs: each command stands here once.

GOLANGCI_LINT_VERSION := v2.15.0
GOLANGCI_LINT := .tools/golangci-lint-$(GOLANGCI_LINT_VERSION)
FIXTURES_VERSION := 23.1.2
FIXTURES := .fixtures/octokit
FIXTURES_MARK := $(FIXTURES)/.$(FIXTURES_VERSION)
CROSS := windows/amd64 darwin/arm64 linux/arm

.DEFAULT_GOAL := help
.PHONY: help build vet test race registry-test lint fmt fixtures demo cross tidy tidy-check ci clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## compile every package
	go build ./...

vet: ## run go vet
	go vet ./...

test: ## run the tests; the real ones skip where their input is absent
	go test ./...

race: ## run the tests under the race detector
	go test -race ./...

registry-test: ## run the tests on a real docker-registry; they fail where it is absent
	EVERYPAGE_REQUIRE_REAL=1 go test -race -count=1 -run Registry ./...

lint: $(GOLANGCI_LINT) ## run the linters and check the format
	$(GOLANGCI_LINT) run

fmt: $(GOLANGCI_LINT) ## format the code
	$(GOLANGCI_LINT) fmt

fixtures: $(FIXTURES_MARK) ## fetch the recorded walk over a real API

demo: ## walk, be killed, come back, and prove it
	go run ./cmd/everypage demo

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
	rm -rf .tools .fixtures dist

$(GOLANGCI_LINT):
	GOBIN=$(CURDIR)/.tools/new go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
	mv .tools/new/golangci-lint $@

$(FIXTURES_MARK):
	rm -rf $(FIXTURES) && mkdir -p $(FIXTURES)
	cd $(FIXTURES) && npm pack --silent @octokit/fixtures@$(FIXTURES_VERSION) && \
		tar -xzf octokit-fixtures-$(FIXTURES_VERSION).tgz --strip-components=1 && rm octokit-fixtures-$(FIXTURES_VERSION).tgz
	test -s $(FIXTURES)/scenarios/api.github.com/paginate-issues/normalized-fixture.json
	touch $@
