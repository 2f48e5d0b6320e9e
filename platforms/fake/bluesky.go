package fake

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// The credentials of all accounts of the fake Bluesky: an app password, and the
// main password, whose sessions have full access.
const (
	BlueskyAppPassword = "sand-boxx-pass-word" //nolint:gosec // only valid in the sandbox
	BlueskyPassword    = "sandbox"
)

const (
	blueskyName       = "bluesky"
	blueskyCollection = "app.bsky.feed.post"
)

// blueskyNetwork fakes an account's server, the directory of DIDs and the video
// service at one address. https://docs.bsky.app/docs/category/http-reference
func (s blueskyFake) blueskyNetwork() *fakeNetwork {
	const prefix = "/bluesky"
	return &fakeNetwork{
		name:   blueskyName,
		prefix: prefix,
		isAPI:  func(path string) bool { return strings.HasPrefix(path, prefix+"/xrpc/") },
		token:  bearer,
		refuse: func(w http.ResponseWriter, status int, text string) {
			if text == "" {
				text = http.StatusText(status)
			}
			xrpcError(w, status, xrpcName(status), text)
		},
		expired: func(w http.ResponseWriter) {
			xrpcError(w, http.StatusBadRequest, "ExpiredToken", "Token has expired")
		},
		writeRateHeaders: blueskyRate,
		routes:           s.routeBluesky,
	}
}

func (s blueskyFake) routeBluesky(mux *http.ServeMux) {
	const root = "/bluesky/xrpc/"
	mux.HandleFunc("POST "+root+"com.atproto.server.createSession", s.blueskyLogin)
	mux.HandleFunc("POST "+root+"com.atproto.server.refreshSession", s.blueskyRefresh)
	mux.HandleFunc("POST "+root+"com.atproto.server.deleteSession", s.blueskyLogout)
	mux.HandleFunc("GET "+root+"com.atproto.server.getSession", s.blueskyAuthenticated(s.blueskySession, "calls"))
	mux.HandleFunc("GET "+root+"com.atproto.server.getServiceAuth",
		s.blueskyAuthenticated(s.blueskyServiceToken, "calls"))
	mux.HandleFunc("GET "+root+"app.bsky.actor.searchActorsTypeahead", s.blueskyAuthenticated(s.blueskySearch, "calls"))
	mux.HandleFunc("GET "+root+"com.atproto.identity.resolveHandle", s.blueskyResolve)
	// Creating a record costs three points, deleting one costs one.
	mux.HandleFunc("POST "+root+"com.atproto.repo.createRecord", s.blueskyAuthenticated(s.blueskyCreate,
		"calls", "writes_hour", "writes_hour", "writes_hour", "writes_day", "writes_day", "writes_day"))
	mux.HandleFunc("POST "+root+"com.atproto.repo.applyWrites",
		s.blueskyAuthenticated(s.blueskyApply, "calls", "writes_hour", "writes_day"))
	mux.HandleFunc("POST "+root+"com.atproto.repo.deleteRecord",
		s.blueskyAuthenticated(s.blueskyDelete, "calls", "writes_hour", "writes_day"))
	mux.HandleFunc("GET "+root+"com.atproto.repo.getRecord", s.blueskyRead)
	mux.HandleFunc("GET "+root+"com.atproto.sync.getBlob", s.blueskyAvatar)
	mux.HandleFunc("GET "+root+"app.bsky.feed.getPosts", s.blueskyPosts)
	mux.HandleFunc("POST "+root+"com.atproto.repo.uploadBlob",
		s.blueskyAuthenticated(s.blueskyUpload, "calls", "uploads_day"))
	mux.HandleFunc("POST "+root+"app.bsky.video.uploadVideo", s.blueskyVideo)
	mux.HandleFunc("GET "+root+"app.bsky.video.getJobStatus", s.blueskyJob)
	mux.HandleFunc(root, func(w http.ResponseWriter, _ *http.Request) {
		xrpcError(w, http.StatusNotImplemented, "MethodNotImplemented", "Method Not Implemented")
	})
	mux.HandleFunc("GET /bluesky/profile/{who}/post/{key}", s.blueskyPage)
}

// xrpcError writes an error in the format of every call.
// https://atproto.com/specs/xrpc#error-responses
func xrpcError(w http.ResponseWriter, status int, name, message string) {
	writeJSON(w, status, map[string]string{"error": name, "message": message})
}

// xrpcName returns the name of an error by its status
// (packages/xrpc/src/types.ts).
func xrpcName(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "InvalidRequest"
	case http.StatusUnauthorized:
		return "AuthenticationRequired"
	case http.StatusNotFound:
		return "XRPCNotSupported"
	case http.StatusRequestEntityTooLarge:
		return "PayloadTooLarge"
	case http.StatusTooManyRequests:
		return "RateLimitExceeded"
	case http.StatusInternalServerError:
		return "InternalServerError"
	case http.StatusBadGateway:
		return "UpstreamFailure"
	case http.StatusServiceUnavailable:
		return "NotEnoughResources"
	case http.StatusGatewayTimeout:
		return "UpstreamTimeout"
	default:
		return strings.ReplaceAll(http.StatusText(status), " ", "")
	}
}

// blueskyRate writes the headers of packages/xrpc-server/src/rate-limiter.ts.
func blueskyRate(h http.Header, rate Rate, left int, reset time.Time) {
	h.Set("RateLimit-Limit", strconv.Itoa(rate.Requests))
	h.Set("RateLimit-Remaining", strconv.Itoa(left))
	h.Set("RateLimit-Reset", strconv.FormatInt(reset.Unix(), 10))
	h.Set("RateLimit-Policy", fmt.Sprintf("%d;w=%d", rate.Requests, int(rate.Per/time.Second)))
}

// blueskyAuthenticated distinguishes a missing token from an invalid one, which
// has status 400 (pds/src/auth-verifier.ts).
func (s blueskyFake) blueskyAuthenticated(
	next func(http.ResponseWriter, *http.Request, caller), buckets ...string,
) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		a := s.accountOf(r, s.networkNamed(blueskyName))
		s.mu.Unlock()
		switch {
		case r.Header.Get("Authorization") == "":
			xrpcError(w, http.StatusUnauthorized, "AuthMissing", "Authentication Required")
		case a == nil || a.network() != blueskyName:
			xrpcError(w, http.StatusBadRequest, "InvalidToken", "Token could not be verified")
		default:
			s.authenticatedFor(s.networkNamed(blueskyName), next, buckets...)(w, r)
		}
	}
}

// blueskyHandle returns an account's handle, in the top-level domain for tests.
func blueskyHandle(a Account) string {
	if strings.Contains(a.Name, ".") {
		return strings.ToLower(a.Name)
	}
	return strings.ToLower(a.Name) + ".test"
}

// blueskyDID returns an account's DID. https://atproto.com/specs/did
func blueskyDID(a Account) string {
	sum := sha256.Sum256([]byte("bluesky account " + a.ID))
	return "did:plc:" + lower32(sum[:15])
}

func lower32(data []byte) string {
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(data))
}

// The codecs of content identifiers. https://atproto.com/specs/data-model#link-and-cid-formats
const (
	codecRaw  = 0x55
	codecCBOR = 0x71
)

// cidOf returns the identifier of content by its hash.
func cidOf(codec byte, sum []byte) string {
	return "b" + lower32(append([]byte{1, codec, 0x12, 32}, sum...))
}

// versionOf returns the identifier of a record's version. It hashes text instead
// of DAG-CBOR, which distinguishes versions as well.
func versionOf(record []byte) string {
	sum := sha256.Sum256(record)
	return cidOf(codecCBOR, sum[:])
}

// blueskyAccount returns an account by DID, handle or name. The caller must hold
// s.mu.
func (s blueskyFake) blueskyAccount(identifier string) *Account {
	for _, a := range s.state.accountOrder {
		if a.network() == blueskyName &&
			(identifier == blueskyDID(*a) || strings.EqualFold(identifier, blueskyHandle(*a)) || identifier == a.Name) {
			return a
		}
	}
	return nil
}

func (s blueskyFake) blueskyResolve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	a := s.blueskyAccount(r.URL.Query().Get("handle"))
	s.mu.Unlock()
	if a == nil {
		xrpcError(w, http.StatusBadRequest, "InvalidRequest", "Unable to resolve handle")
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"did": blueskyDID(*a)})
}

// blueskyPage redirects a permalink to the timeline.
func (s blueskyFake) blueskyPage(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	var id string
	if a := s.blueskyAccount(r.PathValue("who")); a != nil {
		id = blueskyURI(*a, r.PathValue("key"))
	}
	p := s.state.postByID[id]
	s.mu.Unlock()
	if p == nil {
		http.NotFound(w, r)
		return
	}
	http.Redirect(w, r, "/#p"+(&url.URL{Fragment: p.ID}).EscapedFragment(), http.StatusFound) //nolint:gosec // the id of a post that exists
}

func blueskyURI(a Account, key string) string {
	return "at://" + blueskyDID(a) + "/" + blueskyCollection + "/" + key
}

// readXRPC decodes a call's JSON input.
func readXRPC(w http.ResponseWriter, r *http.Request, into any) bool {
	var body bytes.Buffer
	_, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, 1<<20))
	switch media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); {
	case err != nil:
		xrpcError(w, http.StatusRequestEntityTooLarge, "PayloadTooLarge", "request entity too large")
	case media != "application/json":
		xrpcError(w, http.StatusBadRequest, "InvalidRequest", "Wrong request encoding (Content-Type): "+media)
	case json.Unmarshal(body.Bytes(), into) != nil:
		xrpcError(w, http.StatusBadRequest, "InvalidRequest", "Unable to parse request body")
	default:
		return true
	}
	return false
}
