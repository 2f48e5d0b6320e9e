package fake_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"dateline/platforms/fake"
)

type sandbox struct {
	*fake.Server
	t     *testing.T
	token string
}

func start(t *testing.T, options fake.Options) sandbox {
	t.Helper()
	server, err := fake.New(options)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	account, err := server.AddAccount("desk")
	if err != nil {
		t.Fatal(err)
	}
	return sandbox{server, t, account.Token}
}

func (s sandbox) call(method, path, body string, header ...string) (*http.Response, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.URL()+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res, string(data)
}

func (s sandbox) post(text string, header ...string) string {
	s.t.Helper()
	body, _ := json.Marshal(map[string]string{"status": text})
	res, response := s.call(http.MethodPost, "/api/v1/statuses", string(body), header...)
	if res.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %s", res.Status, response)
	}
	var status struct{ ID string }
	if err := json.Unmarshal([]byte(response), &status); err != nil {
		s.t.Fatal(err)
	}
	return status.ID
}

func TestJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sandbox.jsonl")
	first := start(t, fake.Options{Journal: path})
	id := first.post("kept", "Idempotency-Key", "k")
	missing := first.post("deleted")
	first.call(http.MethodDelete, "/api/v1/statuses/"+missing, "")
	// No Close: the process was killed while it wrote a line.
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(`{"kind":"post","post":{"id":"9`); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}

	second := start(t, fake.Options{Journal: path})
	if second.token != first.token {
		t.Error("the token changed")
	}
	if again := second.post("kept", "Idempotency-Key", "k"); again != id {
		t.Errorf("the key was forgotten: %s, want %s", again, id)
	}
	if newer := second.post("after"); newer <= missing {
		t.Errorf("id %s after %s", newer, missing)
	}
	posts := second.Posts()
	if len(posts) != 3 || posts[0].Requests != 2 || !posts[1].Deleted || posts[0].IdempotencyKey != "k" {
		t.Errorf("posts %+v", posts)
	}
	third := start(t, fake.Options{Journal: path})
	if got := third.Posts(); len(got) != 3 {
		t.Errorf("%d posts after a second restart", len(got))
	}
	if err := third.Reset(); err != nil {
		t.Fatal(err)
	}
	if got := start(t, fake.Options{Journal: path}); len(got.Posts()) != 0 || got.token != first.token {
		t.Error("reset must forget posts and keep tokens")
	}

	if err := os.WriteFile(path, []byte("not a journal\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := fake.New(fake.Options{Journal: path}); err == nil {
		t.Error("a file that is not a journal was accepted")
	}
}

func TestIdempotencyKeys(t *testing.T) {
	now := time.Now()
	var mu sync.Mutex
	s := start(t, fake.Options{CreateDelay: 50 * time.Millisecond, Clock: func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}})
	first := s.post("once", "Idempotency-Key", "k")
	if again := s.post("once", "Idempotency-Key", "k"); again != first {
		t.Error("the key was not remembered")
	}
	missing := s.post("gone", "Idempotency-Key", "gone")
	s.call(http.MethodDelete, "/api/v1/statuses/"+missing, "")
	if res, _ := s.call(http.MethodPost, "/api/v1/statuses", `{"status":"gone"}`, "Idempotency-Key",
		"gone"); res.StatusCode != http.StatusNotFound {
		t.Errorf("the key of a deleted post: %s, want 404", res.Status)
	}
	mu.Lock()
	now = now.Add(61 * time.Minute)
	mu.Unlock()
	if later := s.post("once", "Idempotency-Key", "k"); later == first {
		t.Error("the key was remembered for more than an hour")
	}
	// Stored after creation: two concurrent calls create two posts.
	var both sync.WaitGroup
	ids := make([]string, 2)
	for i := range ids {
		both.Go(func() { ids[i] = s.post("race", "Idempotency-Key", "race") })
	}
	both.Wait()
	if ids[0] == ids[1] {
		t.Error("concurrent calls with one key created one post; the real network creates two")
	}
}

func TestRateLimit(t *testing.T) {
	rates := fake.MastodonRates()
	rates.API.Requests = 2
	s := start(t, fake.Options{Rates: rates})
	for _, want := range []int{200, 200, 429} {
		res, body := s.call(http.MethodGet, "/api/v1/accounts/verify_credentials", "")
		if res.StatusCode != want {
			t.Fatalf("%s, want %d: %s", res.Status, want, body)
		}
		reset, err := time.Parse(time.RFC3339, res.Header.Get("X-RateLimit-Reset"))
		if err != nil || time.Until(reset) > 5*time.Minute || res.Header.Get("X-RateLimit-Limit") != "2" ||
			res.Header.Get("Date") == "" {
			t.Errorf("headers %v", res.Header)
		}
	}
}

func TestFaultsOverHTTP(t *testing.T) {
	s := start(t, fake.Options{})
	res, body := s.call(http.MethodPut, "/__faults",
		`[{"kind":"status","status":503,"path":"/api/v1/statuses","account":"desk","nth":2,"count":2}]`)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", res.Status, body)
	}
	for i, want := range []int{200, 503, 503, 200} {
		res, body := s.call(http.MethodPost, "/api/v1/statuses", fmt.Sprintf(`{"status":"n%d"}`, i))
		if res.StatusCode != want {
			t.Errorf("request %d: %s, want %d: %s", i, res.Status, want, body)
		}
	}
	if _, body := s.call(http.MethodGet, "/__faults", ""); !strings.Contains(body, `"seen":4,"hits":2`) {
		t.Errorf("faults %s", body)
	}
	for _, bad := range []string{
		`{`, `[{"kind":"nonsense"}]`, `[{"kind":"latency"}]`,
		`[{"kind":"latency","for":"soon"}]`, `[{"kind":"status"}]`,
		`[{"kind":"latency","for":"1s","probability":2}]`, `[{"kind":"hide","for":"1s","typo":1}]`,
	} {
		if res, _ := s.call(http.MethodPut, "/__faults", bad); res.StatusCode != http.StatusBadRequest {
			t.Errorf("%s was accepted", bad)
		}
	}
	s.call(http.MethodPut, "/__faults", `[{"kind":"latency","for":"80ms","count":-1}]`)
	before := time.Now()
	s.post("slow")
	if took := time.Since(before); took < 80*time.Millisecond {
		t.Errorf("took %v", took)
	}
	if res, _ := s.call(http.MethodDelete, "/__faults", ""); res.StatusCode != http.StatusNoContent {
		t.Error(res.Status)
	}
	if res, _ := s.call(http.MethodPut, "/__faults",
		`[{"kind":"refuse","for":"150ms"}]`); res.StatusCode != http.StatusOK {
		t.Fatal(res.Status)
	}
	if res, err := http.Get(s.URL() + "/"); err == nil {
		_ = res.Body.Close()
		t.Error("the port did not refuse connections")
	}
	time.Sleep(200 * time.Millisecond)
	s.post("back")
}

func TestGroundTruth(t *testing.T) {
	s := start(t, fake.Options{})
	s.post("a & b", "Idempotency-Key", "k")
	s.post("a & b", "Idempotency-Key", "k")
	_, body := s.call(http.MethodGet, "/__state/posts", "")
	var posts []map[string]any
	if err := json.Unmarshal([]byte(body), &posts); err != nil {
		t.Fatal(err)
	}
	if len(posts) != 1 {
		t.Fatalf("%s", body)
	}
	p := posts[0]
	if p["text"] != "a & b" {
		t.Errorf("p[\"text\"]: got %q, want %q", p["text"], "a & b")
	}
	if p["account"] != "desk" {
		t.Errorf("p[\"account\"]: got %q, want %q", p["account"], "desk")
	}
	if p["requests"] != 2.0 {
		t.Errorf("p[\"requests\"]: got %v, want %v", p["requests"], 2.0)
	}
	if p["idempotency_key"] != "k" {
		t.Errorf("p[\"idempotency_key\"]: got %q, want %q", p["idempotency_key"], "k")
	}
	if p["deleted"] != false {
		t.Errorf("p[\"deleted\"]: got %v, want %v", p["deleted"], false)
	}
	if p["received_at"] == "" {
		t.Error("p[\"received_at\"] is empty")
	}
	if !regexp.MustCompile(`^\d{4}-\d\d-\d\dT`).MatchString(fmt.Sprint(p["created_at"])) {
		t.Errorf("%s", body)
	}
	if res, _ := s.call(http.MethodPost, "/__state/reset", ""); res.StatusCode != http.StatusNoContent {
		t.Error(res.Status)
	}
	if len(s.Posts()) != 0 {
		t.Error("reset kept posts")
	}
}

func TestPagination(t *testing.T) {
	s := start(t, fake.Options{})
	for i := range 45 {
		s.post(fmt.Sprint("n", i))
	}
	id := s.Posts()[0].AccountID
	seen, path := 0, "/api/v1/accounts/"+id+"/statuses?limit=100"
	for path != "" {
		res, body := s.call(http.MethodGet, path, "")
		var page []struct{ ID string }
		if err := json.Unmarshal([]byte(body), &page); err != nil {
			t.Fatal(err)
		}
		if len(page) > 40 {
			t.Fatalf("a page of %d", len(page))
		}
		seen += len(page)
		path = ""
		if next := regexp.MustCompile(`<http://[^/]+(/[^>]+)>; rel="next"`).
			FindStringSubmatch(res.Header.Get("Link")); next != nil {
			path = next[1]
		}
	}
	if seen != 45 {
		t.Errorf("saw %d posts, want 45", seen)
	}
}

func TestRateLimit_App(t *testing.T) {
	rates := fake.GenerousRates()
	rates.App = fake.Rate{Requests: 2, Per: 24 * time.Hour}
	s := start(t, fake.Options{Rates: rates})
	for _, want := range []int{200, 200, 429} {
		res, body := s.call(http.MethodGet, "/api/v1/accounts/verify_credentials", "")
		if res.StatusCode != want || res.Header.Get("X-RateLimit-Limit") != "2" {
			t.Fatalf("%s with %v, want %d: %s", res.Status, res.Header, want, body)
		}
	}
}
