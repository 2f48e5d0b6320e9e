package cli

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dateline/internal/infra/config"
	"dateline/internal/publishing/account"
	"dateline/internal/testing/newsroomtest"
	"dateline/platforms"
	"dateline/platforms/call"
)

// sandboxed is an installation whose sandbox is stopped and started.
type sandboxed struct {
	*newsroomtest.Newsroom
	cfg *config.Config
	box *sandbox
}

// start starts the sandbox and connects its account, like `up`.
func (s *sandboxed) start() error {
	s.T.Helper()
	box, err := startSandbox(s.cfg)
	s.Must(err)
	s.T.Cleanup(box.close)
	s.box = box
	s.cfg.SandboxAddr = box.allowed()[0] // the same one at the next start
	client, err := call.NewClient(box.allowed())
	s.Must(err)
	var options platforms.Options
	options.SetSandbox(box.network)
	s.Accounts.Connectors, s.Accounts.Sandbox = platforms.New(client, options), box.network
	return box.connect(s.T.Context(), &parts{store: s.Store, accounts: s.Accounts, log: slog.New(slog.DiscardHandler)},
		s.Owner)
}

func (s *sandboxed) account() account.Account {
	s.T.Helper()
	all, err := s.Store.Publishing.Accounts.Accounts(s.T.Context(), s.Workspace.ID)
	s.Must(err)
	if len(all) != 1 {
		s.T.Fatalf("got %d accounts, want the sandbox's", len(all))
	}
	return all[0]
}

// reconnect allows access on the consent page.
func (s *sandboxed) reconnect() {
	s.T.Helper()
	link, err := s.Accounts.Reconnect(s.T.Context(), s.Owner, s.account().ID)
	s.Must(err)
	page, err := url.Parse(link)
	s.Must(err)
	form := page.Query()
	form.Set("account", s.account().RemoteID)
	form.Set("decision", "allow")
	page.RawQuery = ""
	r, err := http.NewRequestWithContext(s.T.Context(), http.MethodPost, page.String(),
		strings.NewReader(form.Encode()))
	s.Must(err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := http.DefaultTransport.RoundTrip(r)
	s.Must(err)
	s.Must(answer.Body.Close())
	back, err := answer.Location()
	s.Must(err)
	_, err = s.Accounts.CompleteAuthorization(s.T.Context(), account.Callback{
		State: back.Query().Get("state"), Code: back.Query().Get("code"),
	})
	s.Must(err)
}

func TestSandbox_RepairsItsAccountAtTheNextStart(t *testing.T) {
	for name, use := range map[string]func(s *sandboxed){
		"disconnected":                   func(*sandboxed) {},
		"reconnected, then disconnected": func(s *sandboxed) { s.reconnect() },
		"reconnected, started again, then disconnected": func(s *sandboxed) {
			s.reconnect()
			s.box.close()
			s.Must(s.start())
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &sandboxed{Newsroom: newsroomtest.Open(t), cfg: &config.Config{
				Sandbox: true, SandboxAddr: "127.0.0.1:0", DataDir: t.TempDir(),
			}}
			s.Must(s.start())
			use(s)
			_, err := s.Accounts.Disconnect(t.Context(), s.Owner, s.account().ID)
			s.Must(err)
			s.box.close()
			if err := s.start(); err != nil {
				t.Fatalf("the next start: %v", err)
			}
			if got := s.account().Status; got != account.Connected {
				t.Errorf("the account is %s, want %s", got, account.Connected)
			}
		})
	}
}

func TestSandbox_FailuresAreWarnings(t *testing.T) {
	var logged bytes.Buffer
	log := slog.New(slog.NewTextHandler(&logged, nil))
	dir := t.TempDir()
	// A directory instead of its journal
	if err := os.MkdirAll(filepath.Join(dir, "sandbox", "mastodon.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	box := openSandbox(&config.Config{Sandbox: true, SandboxAddr: "127.0.0.1:0", DataDir: dir}, log)
	t.Cleanup(box.close)
	if got := box.url(); got != "" || !strings.Contains(logged.String(), "level=WARN") {
		t.Errorf("got the address %q and the log %q, want none and a warning", got, logged.String())
	}

	logged.Reset()
	s := &sandboxed{Newsroom: newsroomtest.Open(t), cfg: &config.Config{
		Sandbox: true, SandboxAddr: "127.0.0.1:0", DataDir: t.TempDir(),
	}}
	s.Must(s.start())
	s.Must(s.box.server.Close()) // its address does not respond any more
	s.box.connectAccount(t.Context(), &parts{store: s.Store, accounts: s.Accounts}, s.Owner, log)
	if !strings.Contains(logged.String(), "level=WARN") {
		t.Errorf("got the log %q, want a warning", logged.String())
	}
}
