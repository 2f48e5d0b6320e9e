package remote

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"dateline/api/spec"
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
	if err := o.saveProfiles(profiles{
		Current:  "a",
		Profiles: map[string]profile{"a": {URL: "https://a.example", Token: "t"}},
	}); err != nil {
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
	if err := o.saveProfiles(profiles{
		Current:  "a",
		Profiles: map[string]profile{"a": {URL: "https://a.example", Token: "token-a"}},
	}); err != nil {
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
		ExitFailure: errors.New("other"), ExitUsage: UsageError("x"), ExitAccess: &client.Error{Status: 403},
		ExitNotFound: &client.Error{Status: 404},
		ExitRejected: &client.Error{Status: 422}, ExitUnavailable: &client.Error{Status: 503},
		ExitNotPosted: errNotPosted,
	} {
		if got := ExitCode(err); got != want {
			t.Errorf("ExitCode(%v) = %d, want %d", err, got, want)
		}
	}
}

func TestArguments_NameWhatIsMissing(t *testing.T) {
	for _, c := range []struct {
		use, want string
		args      []string
	}{
		{"post TEXT", "TEXT is missing", nil},
		{"post TEXT", `"world" is unexpected; put quotes around`, []string{"hello", "world"}},
		{"discard ID…", "ID is missing", nil},
		{"watch", `"now" is unexpected: the command has no arguments`, []string{"now"}},
	} {
		n := len(strings.Fields(c.use)) - 1
		err := Arguments(cobra.ExactArgs(n))(&cobra.Command{Use: c.use}, c.args)
		if err == nil || !strings.Contains(err.Error(), c.want) || ExitCode(err) != ExitUsage {
			t.Errorf("%s with %q: %v, want %q and the exit code for usage", c.use, c.args, err, c.want)
		}
	}
}

func TestFindAccount_ByEveryName(t *testing.T) {
	label, id := "Night desk", uuid.New()
	all := []spec.Account{
		{Id: id, Network: "mastodon", Handle: "@desk@example.social", Name: "Desk"},
		{Id: uuid.New(), Network: "bluesky", Handle: "desk.example", Name: "Sports", Label: &label},
		{Id: uuid.New(), Network: "bluesky", Handle: "old.example", Name: "Desk", Status: spec.Disconnected},
	}
	for name, want := range map[string]int{
		"desk": 0, "@desk@example.social": 0, "Mastodon:desk@example.social": 0,
		id.String(): 0, "night desk": 1, "bluesky:desk.example": 1,
	} {
		if got, err := findAccount(all, name); err != nil || got.Id != all[want].Id {
			t.Errorf("findAccount(%q) = %s, %v; want %s", name, got.Handle, err, all[want].Handle)
		}
	}
	for _, name := range []string{"Sports", "old.example"} {
		if got, err := findAccount(all, name); err == nil {
			t.Errorf("findAccount(%q) = %s, want an error", name, got.Handle)
		}
	}
}

// Neither the next posts nor the newest events leave a small terminal.
func TestScreen_FitsTheTerminal(t *testing.T) {
	v := &screen{}
	for i := range 200 {
		v.add(fmt.Sprintf("event %d of a post with 長い名前 and more text than fits", i))
	}
	status := "NEXT POSTS" + strings.Repeat("\nGiá cà phê tại Cần Thơ tăng tuần thứ ba liên tiếp", 30) + "\n"
	for _, c := range []struct{ width, height, events int }{{40, 24, 4}, {80, 60, 26}, {0, 0, 100}} {
		got := v.render(status, c.width, c.height)
		lines := strings.Split(strings.TrimSuffix(strings.TrimPrefix(got, "\x1b[H"), "\n\x1b[J"), "\n")
		if c.height > 0 && len(lines) >= c.height {
			t.Errorf("%d × %d: %d lines", c.width, c.height, len(lines))
		}
		for _, line := range lines {
			if w := uniseg.StringWidth(strings.TrimSuffix(line, "\x1b[K")); c.width > 0 && w > c.width {
				t.Errorf("%d × %d: a line of %d columns: %q", c.width, c.height, w, line)
			}
		}
		if n := strings.Count(got, "event "); n != c.events || !strings.Contains(got, "event 199") ||
			!strings.Contains(got, "NEXT POSTS") {
			t.Errorf("%d × %d: %d events, want the newest %d below the next posts:\n%s", c.width, c.height, n, c.events,
				got)
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

// Times are those of the workspace, as in all other lists.
func TestPreviewRule_ShowsTimesInTheZoneOfTheWorkspace(t *testing.T) {
	out, err := runAgainst(t, map[string]string{
		"/api/v1/me":    `{"workspace": {"time_zone": "Asia/Ho_Chi_Minh"}}`,
		"/api/v1/rules": `{"rules": [{"id": "0192f0c1-7a3e-7c34-9d54-2f7f2f3a1b00", "name": "City"}]}`,
		"/api/v1/rules/preview": `{"articles": 1, "counts": {"matched": 1}, "from": "2026-11-22T20:00:00Z",
			"decisions": [{"title": "Bridge", "outcome": "reserved", "reason": "matched",
			"decided_at": "2026-11-29T20:44:00Z"}]}`,
	}, "rules", "preview", "City")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"since 2026-11-23", "Mon 2026-11-30 03:44"} {
		if !strings.Contains(out, want) {
			t.Errorf("got %q, want %q in it", out, want)
		}
	}
}

func TestPost_NamesTheFlagOfAnUnreadableTime(t *testing.T) {
	_, err := runAgainst(t, map[string]string{"/api/v1/me": `{"workspace": {"time_zone": "UTC"}}`},
		"post", "Hello", "--at", "blah")
	if err == nil || err.Error() != `--at "blah": Not understood.` || ExitCode(err) != ExitUsage {
		t.Errorf("got %v and exit code %d, want the flag, its value and the exit code for usage", err, ExitCode(err))
	}
}

// runAgainst runs a command against an instance that has these answers and refuses everything else.
func runAgainst(t *testing.T, answers map[string]string, args ...string) (string, error) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, found := answers[r.URL.Path]
		if !found {
			w.WriteHeader(http.StatusUnprocessableEntity)
			answer = `{"code": "invalid_request", "detail": "The request is invalid.",
				"errors": [{"field": "text", "code": "unreadable", "message": "Not understood."}]}`
		}
		_, _ = io.WriteString(w, answer)
	}))
	defer s.Close()
	root := &cobra.Command{Use: "dateline", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(Commands(Options{Environ: []string{"DATELINE_URL=" + s.URL, "DATELINE_TOKEN=t"}})...)
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetArgs(args)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}
