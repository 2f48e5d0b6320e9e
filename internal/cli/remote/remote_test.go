package remote

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/cobra"

	"dateline/client"
)

func TestRetrying_RepeatsOnlyWhatIsSafeToRepeat(t *testing.T) {
	for _, c := range []struct {
		name, method, key string
		want              int32
	}{
		{"reads", http.MethodGet, "", 3},
		{"creations with an idempotency key", http.MethodPost, "k", 3},
		{"creations without one", http.MethodPost, "", 1},
		{"changes", http.MethodPatch, "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int32
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if body, _ := io.ReadAll(r.Body); c.method != http.MethodGet && string(body) != "{}" {
					t.Errorf("body of attempt %d: %q, want {}", requests.Load()+1, body)
				}
				if requests.Add(1) < 3 {
					w.WriteHeader(http.StatusServiceUnavailable)
				}
			}))
			defer s.Close()
			var body io.Reader
			if c.method != http.MethodGet {
				body = strings.NewReader("{}")
			}
			r, err := http.NewRequestWithContext(t.Context(), c.method, s.URL, body)
			if err != nil {
				t.Fatal(err)
			}
			if c.key != "" {
				r.Header.Set("Idempotency-Key", c.key)
			}
			response, err := (&http.Client{Transport: retrying{http.DefaultTransport}}).Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if got := requests.Load(); got != c.want {
				t.Errorf("%d requests, want %d", got, c.want)
			}
		})
	}
}

func TestProfiles_AreReadableByTheirOwnerOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config", "profiles.json")
	o := Options{Environ: []string{"DATELINE_PROFILES=" + path}}
	if err := o.saveProfiles(profiles{Current: "a", Profiles: map[string]profile{"a": {URL: "https://a.example", Token: "t"}}}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v; want 0600", info.Mode(), err)
	}
	if all, err := o.loadProfiles(); err != nil || all.Profiles["a"].Token != "t" {
		t.Errorf("loaded %v, %v", all, err)
	}
	if err := os.Chmod(path, 0o644); err != nil { //nolint:gosec // the mistake under test
		t.Fatal(err)
	}
	if _, err := o.loadProfiles(); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that others can read: %v, want an error that names chmod", err)
	}
}

// A token must not be sent to another instance than the one it was saved for.
func TestCredentials_BelongToTheirAddress(t *testing.T) {
	o := Options{Environ: []string{"DATELINE_PROFILES=" + filepath.Join(t.TempDir(), "profiles.json")}}
	if err := o.saveProfiles(profiles{Current: "a", Profiles: map[string]profile{"a": {URL: "https://a.example", Token: "token-a"}}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args  []string
		env   []string
		token string
	}{
		{nil, nil, "token-a"},
		{[]string{"--profile", "a"}, nil, "token-a"},
		{[]string{"--url", "https://a.example/"}, nil, "token-a"},
		{[]string{"--url", "https://b.example"}, nil, ""},
		{[]string{"--profile", "a", "--url", "https://b.example"}, nil, ""},
		{[]string{"--profile", "b"}, nil, ""},
		{nil, []string{"DATELINE_URL=https://b.example"}, ""},
		{nil, []string{"DATELINE_URL=https://b.example", "DATELINE_TOKEN=token-b"}, "token-b"},
		{[]string{"--profile", "a"}, []string{"DATELINE_URL=https://b.example", "DATELINE_TOKEN=token-b"}, "token-a"},
	} {
		command := &cobra.Command{}
		addConnectionFlags(command)
		if err := command.ParseFlags(c.args); err != nil {
			t.Fatal(err)
		}
		o := Options{Environ: append(append([]string{}, o.Environ...), c.env...)}
		p, err := o.credentials(command)
		if p.Token != c.token && err == nil || (err == nil) != (c.token != "") {
			t.Errorf("%v %v: token %q, %v; want %q", c.args, c.env, p.Token, err, c.token)
		}
		if err != nil && ExitCode(err) != ExitAccess {
			t.Errorf("%v %v: exit code %d, want %d", c.args, c.env, ExitCode(err), ExitAccess)
		}
	}
}

func TestExitCode_DependsOnTheResponse(t *testing.T) {
	for want, err := range map[int]error{
		ExitFailure: errors.New("other"), ExitUsage: UsageError("x"), ExitAccess: &client.Error{Status: 403}, ExitNotFound: &client.Error{Status: 404},
		ExitRejected: &client.Error{Status: 422}, ExitUnavailable: &client.Error{Status: 503}, ExitNotPosted: errNotPosted,
	} {
		if got := ExitCode(err); got != want {
			t.Errorf("ExitCode(%v) = %d, want %d", err, got, want)
		}
	}
}

func TestTable_RemovesTerminalSequences(t *testing.T) {
	var b bytes.Buffer
	if err := table(&b, []string{"title"}, [][]string{{"evil\x1b[2J\ttitle\n\u009b31m"}}); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "TITLE\nevil [2J title 31m\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
