package fake_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"dateline/platforms/fake"
)

// bluesky is an independent client of the fake Bluesky.
type bluesky struct {
	server      *fake.Server
	did, access string
}

func newBluesky(t *testing.T, options fake.Options) *bluesky {
	t.Helper()
	server, err := fake.New(options)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	if _, err := server.Add(fake.Account{Network: "bluesky", Name: "desk"}); err != nil {
		t.Fatal(err)
	}
	b := &bluesky{server: server}
	var session struct{ DID, AccessJWT string }
	if status := b.call(t, "", "com.atproto.server.createSession",
		map[string]string{"identifier": "desk.test", "password": fake.BlueskyAppPassword}, &session); status != 200 {
		t.Fatalf("login: %d", status)
	}
	b.did, b.access = session.DID, session.AccessJWT
	return b
}

type xrpcFailure struct{ Error, Message string }

// call posts in, or sends a GET if in is nil.
func (b *bluesky) call(t *testing.T, token, method string, in, into any) int {
	t.Helper()
	verb, body, kind := http.MethodGet, []byte(nil), ""
	switch v := in.(type) {
	case nil:
	case []byte:
		verb, body, kind = http.MethodPost, v, "image/png"
	default:
		verb, kind = http.MethodPost, "application/json"
		var err error
		if body, err = json.Marshal(v); err != nil {
			t.Fatal(err)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), verb, b.server.URL()+"/bluesky/xrpc/"+method,
		bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	if err == nil && into != nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatalf("%s: %v: %s", method, err, data)
	}
	return res.StatusCode
}

const blueskyKey = "3n2tvwxvr322c"

func (b *bluesky) create(t *testing.T, key string, record map[string]any) (status int, reported xrpcFailure) {
	t.Helper()
	if record["$type"] == nil {
		record["$type"] = "app.bsky.feed.post"
	}
	if record["createdAt"] == nil {
		record["createdAt"] = "2026-11-21T08:00:00.000Z"
	}
	status = b.call(t, b.access, "com.atproto.repo.createRecord",
		map[string]any{"repo": b.did, "collection": "app.bsky.feed.post", "rkey": key, "record": record}, &reported)
	return status, reported
}

func TestBluesky_Refusals(t *testing.T) {
	b := newBluesky(t, fake.Options{})
	ref := map[string]string{"uri": "at://" + b.did + "/app.bsky.feed.post/x", "cid": "bafy"}
	for name, row := range map[string]struct {
		key     string
		record  map[string]any
		message string
	}{
		"NoText":    {blueskyKey, map[string]any{}, `property "text"`},
		"Graphemes": {blueskyKey, map[string]any{"text": strings.Repeat("ă", 301)}, "300 graphemes"},
		"Bytes":     {blueskyKey, map[string]any{"text": strings.Repeat("👨‍👩‍👧‍👦", 121)}, "3000 characters"},
		"Time":      {blueskyKey, map[string]any{"text": "x", "createdAt": "today"}, "datetime"},
		"Key":       {"a-key", map[string]any{"text": "x"}, "TID"},
		"Type":      {blueskyKey, map[string]any{"text": "x", "$type": "app.bsky.feed.like"}, "$type"},
		"Facet": {
			blueskyKey,
			map[string]any{"text": "x", "facets": []any{map[string]any{"features": []any{}}}},
			"facets/0",
		},
		"FacetLink": {
			blueskyKey,
			map[string]any{"text": "x", "facets": []any{facetOf("#link", "uri", "nothing")}},
			"facets/0",
		},
		"Reply": {
			blueskyKey, map[string]any{
				"text":  "x",
				"reply": map[string]any{"root": ref, "parent": map[string]string{"uri": "at://x"}},
			}, "strong reference",
		},
		"NoAlt": {
			blueskyKey, map[string]any{"text": "", "embed": map[string]any{
				"$type":  "app.bsky.embed.images",
				"images": []any{map[string]any{"image": blobOf("bafkrei", "image/png", 3)}},
			}}, "alt",
		},
		"LargeImage": {
			blueskyKey,
			map[string]any{"text": "", "embed": map[string]any{
				"$type":  "app.bsky.embed.images",
				"images": []any{map[string]any{"alt": "", "image": blobOf("bafkrei", "image/png", 2_000_001)}},
			}},
			"too large",
		},
		"WrongVideo": {
			blueskyKey, map[string]any{"text": "", "embed": map[string]any{
				"$type": "app.bsky.embed.video",
				"video": blobOf("bafkrei", "video/webm", 3),
			}}, "video/mp4",
		},
		"CardNoTitle": {
			blueskyKey, map[string]any{"text": "", "embed": map[string]any{
				"$type":    "app.bsky.embed.external",
				"external": map[string]string{"uri": "https://example.com"},
			}}, "title",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if status, reported := b.create(t, row.key, row.record); status != 400 ||
				reported.Error != "InvalidRequest" || !strings.Contains(reported.Message, row.message) {
				t.Errorf("status %d, %+v", status, reported)
			}
		})
	}
	status, reported := b.create(t, blueskyKey,
		map[string]any{"text": "", "embed": map[string]any{
			"$type":  "app.bsky.embed.images",
			"images": []any{map[string]any{"alt": "", "image": blobOf("bafkreinone", "image/png", 3)}},
		}})
	if status != 400 || reported.Error != "BlobNotFound" {
		t.Errorf("a blob that is not there: status %d, %+v", status, reported)
	}
	if posts := b.server.Posts(); len(posts) != 0 {
		t.Errorf("published %+v", posts)
	}
}

func facetOf(kind, property, value string) map[string]any {
	return map[string]any{
		"index":    map[string]int{"byteStart": 0, "byteEnd": 1},
		"features": []any{map[string]string{"$type": "app.bsky.richtext.facet" + kind, property: value}},
	}
}

func blobOf(cid, kind string, size int) map[string]any {
	return map[string]any{"$type": "blob", "ref": map[string]string{"$link": cid}, "mimeType": kind, "size": size}
}

// An invalid token has status 400.
func TestBluesky_Tokens(t *testing.T) {
	b := newBluesky(t, fake.Options{})
	for token, want := range map[string]struct {
		status int
		name   string
	}{"": {401, "AuthMissing"}, "wrong": {400, "InvalidToken"}} {
		var reported xrpcFailure
		if status := b.call(t, token, "com.atproto.server.getSession", nil, &reported); status != want.status ||
			reported.Error != want.name {
			t.Errorf("token %q: status %d, %+v", token, status, reported)
		}
	}
	var session struct{ DID, Handle string }
	if status := b.call(t, b.access, "com.atproto.server.getSession", nil, &session); status != 200 ||
		session.DID != b.did || session.Handle != "desk.test" {
		t.Errorf("status %d, %+v", status, session)
	}
	if err := b.server.Inject(fake.Fault{Kind: fake.TokenExpired}); err != nil {
		t.Fatal(err)
	}
	var reported xrpcFailure
	if status := b.call(t, b.access, "com.atproto.server.getSession", nil, &reported); status != 400 ||
		reported.Error != "ExpiredToken" {
		t.Errorf("status %d, %+v", status, reported)
	}
	if status := b.call(t, "", "com.atproto.unknown", nil, &reported); status != 501 {
		t.Errorf("an unknown method: status %d", status)
	}
}

// One record per key, which can be deleted repeatedly and survives a restart.
func TestBluesky_Records(t *testing.T) {
	journal := t.TempDir() + "/journal"
	b := newBluesky(t, fake.Options{Journal: journal})
	var uploaded struct {
		Blob map[string]any
	}
	if status := b.call(t, b.access, "com.atproto.repo.uploadBlob", []byte("\x89PNG\x0D\x0A\x1A\x0A picture"),
		&uploaded); status != 200 {
		t.Fatalf("upload: status %d", status)
	}
	if cid := uploaded.Blob["ref"].(map[string]any)["$link"].(string); len(cid) != 59 ||
		!strings.HasPrefix(cid, "bafkrei") {
		t.Errorf("named %s", cid)
	}
	record := map[string]any{
		"text": "Tin", "langs": []string{"vi"},
		"embed": map[string]any{
			"$type":  "app.bsky.embed.images",
			"images": []any{map[string]any{"alt": "Ảnh", "image": uploaded.Blob}},
		},
	}
	if status, reported := b.create(t, blueskyKey, record); status != 200 {
		t.Fatalf("status %d, %+v", status, reported)
	}
	if status, reported := b.create(t, blueskyKey, record); status != 500 {
		t.Errorf("a second record under the key: status %d, %+v", status, reported)
	}
	posts := b.server.Posts()
	if len(posts) != 1 {
		t.Fatalf("len(posts): got %v, want %v", len(posts), 1)
	}
	if posts[0].Text != "Tin" {
		t.Fatalf("posts[0].Text: got %q, want %q", posts[0].Text, "Tin")
	}
	if posts[0].Language != "vi" {
		t.Fatalf("posts[0].Language: got %q, want %q", posts[0].Language, "vi")
	}
	if len(posts[0].Media) != 1 {
		t.Fatalf("len(posts[0].Media): got %v, want %v", len(posts[0].Media), 1)
	}
	if posts[0].Media[0].Description != "Ảnh" {
		t.Fatalf("posts[0].Media[0].Description: got %q, want %q", posts[0].Media[0].Description, "Ảnh")
	}
	if !posts[0].CreatedAt.Equal(time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)) {
		t.Fatalf("posts %+v", posts)
	}
	for _, path := range []string{
		"/", "/media/" + posts[0].Media[0].ID,
		strings.TrimPrefix(posts[0].URL, b.server.URL()),
	} {
		res, err := http.Get(b.server.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		page, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK || !strings.Contains(path, "/media/") &&
			!strings.Contains(string(page), "Tin") {
			t.Errorf("%s: %s", path, res.Status)
		}
	}
	if err := b.server.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := fake.New(fake.Options{Journal: journal})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Close() }()
	b.server = again
	where := "com.atproto.repo.getRecord?repo=desk.test&collection=app.bsky.feed.post&rkey=" + blueskyKey
	var stored struct {
		URI, CID string
		Value    struct{ Text string }
	}
	if status := b.call(t, "", where, nil, &stored); status != 200 || stored.URI != posts[0].ID || stored.CID == "" ||
		stored.Value.Text != "Tin" {
		t.Errorf("status %d, %+v", status, stored)
	}
	key := map[string]string{"repo": b.did, "collection": "app.bsky.feed.post", "rkey": blueskyKey}
	for range 2 {
		if status := b.call(t, b.access, "com.atproto.repo.deleteRecord", key, nil); status != 200 {
			t.Errorf("delete: status %d", status)
		}
	}
	var reported xrpcFailure
	if status := b.call(t, "", where, nil, &reported); status != 400 || reported.Error != "RecordNotFound" {
		t.Errorf("status %d, %+v", status, reported)
	}
	key["repo"] = "did:plc:another"
	if status := b.call(t, b.access, "com.atproto.repo.deleteRecord", key, &reported); status != 401 {
		t.Errorf("another's record: status %d, %+v", status, reported)
	}
}

// Service tokens are valid for less than an hour.
func TestBluesky_ServiceTokens(t *testing.T) {
	b := newBluesky(t, fake.Options{})
	var reported xrpcFailure
	for query, want := range map[string]string{
		"": "InvalidRequest", "?aud=did:web:x&exp=9999999999": "BadExpiration",
		"?aud=did:web:x&exp=1": "BadExpiration",
	} {
		if status := b.call(t, b.access, "com.atproto.server.getServiceAuth"+query, nil, &reported); status != 400 ||
			reported.Error != want {
			t.Errorf("%q: status %d, %+v", query, status, reported)
		}
	}
	if status := b.call(t, b.access, "app.bsky.video.uploadVideo?did="+b.did, []byte("x"), &reported); status != 401 {
		t.Errorf("a video without a pass: status %d", status)
	}
	if status := b.call(t, "", "app.bsky.video.getJobStatus?jobId=none", nil, &reported); status != 404 {
		t.Errorf("an unknown job: status %d", status)
	}
}
