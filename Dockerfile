# The dateline binary on an empty file system: there is nothing else to patch. The
# binary contains the time zone database (make time-zones).
#
#   docker build --build-arg VERSION=1.2.3 --build-arg COMMIT=0a1b2c3 --build-arg DATE=2026-12-24T18:00:00Z -t dateline:1.2.3 .
#
# Two builds of one checkout and version give the same binary: exact compiler
# version, -trimpath, no build id, no version-control stamp, no cgo.

# The dashboard is the same on every platform.
FROM --platform=$BUILDPLATFORM node:20.20.2-bookworm-slim AS web
WORKDIR /src/web
COPY web/package.json web/package-lock.json web/.npmrc ./
RUN --mount=type=cache,target=/root/.npm \
    npm ci --no-progress
COPY api/openapi.yaml /src/api/
COPY web ./
RUN npm run --silent build

# The compiler runs on the builder's own platform and cross-compiles.
FROM --platform=$BUILDPLATFORM golang:1.26.8-bookworm AS build
ENV CGO_ENABLED=0 GOTOOLCHAIN=local
WORKDIR /src

# A separate layer, so that code changes do not download modules again.
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod \
    go mod download

COPY . .
COPY --from=web /src/web/dist web/dist
ARG VERSION=dev
ARG COMMIT
ARG DATE
ARG TARGETOS
ARG TARGETARCH
RUN --mount=type=cache,target=/go/pkg/mod \
    --mount=type=cache,target=/root/.cache/go-build \
    GOOS=$TARGETOS GOARCH=$TARGETARCH go build \
        -trimpath -buildvcs=false -tags=nomsgpack -gcflags=all=-dwarf=false \
        -ldflags "-s -w -buildid= -X main.version=$VERSION -X main.commit=$COMMIT -X main.date=$DATE" \
        -o /out/dateline .

# New volumes mounted here inherit the owner.
RUN mkdir -p /out/keyset /out/tmp

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build --chown=65532:65532 /out/keyset /var/lib/dateline/keyset
COPY --from=build --chown=65532:65532 /out/tmp /tmp
COPY LICENSE NOTICE /
COPY --from=build /out/dateline /dateline
USER 65532:65532
EXPOSE 8080
ENTRYPOINT ["/dateline"]
CMD ["api"]
