# Settings and tools that Makefile and bench/Makefile share.

SHELL       := /bin/bash
VERSION     ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
TOOLS       := $(dir $(abspath $(lastword $(MAKEFILE_LIST)))).tools
# The compiler and the linters spend a quarter of their processor time on garbage collection at
# the default of 100; 400 takes a fifth more memory. Programs and tests keep the default.
COMPILE     := GOGC=400
COMMIT      := $(shell git rev-parse --short=12 HEAD 2>/dev/null)
DATE        := $(shell TZ=UTC git log -1 --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ 2>/dev/null)
# Address of the source files, for links of the documentation: SOURCE=https://git.example/dateline/blob/v0.1.0
SOURCE      ?=
GO_BUILD    := $(COMPILE) go build -ldflags "-s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT) -X main.date=$(DATE) -X main.source=$(SOURCE)"

# The same for building, testing, linting and for tools, so that each package is
# compiled once. Without cgo sqlc has no C code, which takes minutes to compile. nomsgpack
# is a tag of gin: the API never sends MessagePack, whose code takes long to compile.
# Debugging information, which only debuggers read, takes a sixth of the compiler's time:
# `GOFLAGS= dlv test ./api` has it.
export CGO_ENABLED := 0
export GOFLAGS     := -trimpath -buildvcs=false -tags=nomsgpack -gcflags=all=-dwarf=false

# Tools that are built from source at a pinned version, outside go.mod.
GOLANGCI    := $(TOOLS)/golangci-lint-v2.15.0
SQLC        := $(TOOLS)/sqlc-v1.31.1
OAPI        := $(TOOLS)/oapi-codegen-v2.8.2
WFCHECK     := $(TOOLS)/workflowcheck-v0.6.0
# The version of the server in the Temporal CLI, see internal/embedded/programs/requirements.txt.
TEMPORAL    := $(TOOLS)/temporal-server-v1.32.0
GOVULN      := $(TOOLS)/govulncheck-v1.9.0
GITLEAKS    := $(TOOLS)/gitleaks-v8.30.1
VERSITYGW   := $(TOOLS)/versitygw-v1.8.0
GOATCOUNTER := $(TOOLS)/goatcounter-v2.7.0
GOTIFY      := $(TOOLS)/gotify-v2.9.1
NFPM        := $(TOOLS)/nfpm-v2.43.4

define install
	@mkdir -p $(TOOLS)
	@echo "building $(1)@$(2) (once)"
	@$(COMPILE) GOBIN=$(TOOLS)/tmp go install $(1)@$(2)
	@mv $(TOOLS)/tmp/* $@ && rmdir $(TOOLS)/tmp
endef

$(GOLANGCI):
	$(call install,github.com/golangci/golangci-lint/v2/cmd/golangci-lint,v2.15.0)
$(SQLC):
	$(call install,github.com/sqlc-dev/sqlc/cmd/sqlc,v1.31.1)
$(OAPI):
	$(call install,github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen,v2.8.2)
$(GOVULN):
	$(call install,golang.org/x/vuln/cmd/govulncheck,v1.9.0)
$(GITLEAKS):
	$(call install,github.com/zricethezav/gitleaks/v8,v8.30.1)
$(NFPM):
	$(call install,github.com/goreleaser/nfpm/v2/cmd/nfpm,v2.43.4)
$(TEMPORAL):
	@echo "building the Temporal server for Postgres (once, takes minutes)"
	@$(COMPILE) GOBIN=$(TOOLS)/tmp-temporal go install go.temporal.io/server/cmd/server@v1.32.0 go.temporal.io/server/cmd/tools/sql@v1.32.0
	@mv $(TOOLS)/tmp-temporal $@
$(VERSITYGW):
	$(call install,github.com/versity/versitygw/cmd/versitygw,v1.8.0)
# The folder of a module's source.
module = go mod download -json $(1) | sed -n 's/.*"Dir": "\(.*\)".*/\1/p'

$(GOATCOUNTER):
	@echo "building GoatCounter 2.7.0 (once)"
	@mkdir -p $(TOOLS) && cd "$$($(call module,zgo.at/goatcounter/v2@v2.7.0))" && $(COMPILE) go build -o $@ ./cmd/goatcounter
# Its module has no dashboard to embed.
$(GOTIFY):
	@echo "building Gotify 2.9.1 (once)"
	@mkdir -p $(TOOLS) && dir=$$(mktemp -d) && cp -r "$$($(call module,github.com/gotify/server/v2@v2.9.1))/." $$dir && \
		chmod -R u+w $$dir && cd $$dir && \
		mkdir -p ui/build/static && touch ui/build/index.html ui/build/manifest.json ui/build/static/none && \
		$(COMPILE) go build -o $@ . && rm -rf $$dir
$(WFCHECK):
	$(call install,go.temporal.io/sdk/contrib/tools/workflowcheck,v0.6.0)
