package cli

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/uuid"

	"dateline/internal/identity/secret"
	"dateline/internal/infra/config"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/newsroomtest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// tended is an installation whose keys are managed with the command line.
type tended struct {
	*newsroomtest.Newsroom
	t       *testing.T
	account uuid.UUID
	environ []string
}

func openTended(t *testing.T) tended {
	t.Helper()
	n := newsroomtest.Open(t)
	return tended{n, t, n.Connect("desk").ID, []string{
		"DATABASE_URL=" + n.DatabaseURL, "DATELINE_KEYSET=" + n.Keyset.Path,
	}}
}

// run runs a command and returns its output.
func (d tended) run(status int, args ...string) string {
	d.t.Helper()
	var output bytes.Buffer
	p := Program{Stdout: &output, Stderr: &output, Environ: d.environ}
	if got := p.Run(d.t.Context(), append([]string{"keys"}, args...)); got != status {
		d.t.Fatalf("keys %s: got status %d: %s", strings.Join(args, " "), got, output.String())
	}
	return output.String()
}

// roles returns the roles of the keys in the order of the list.
func (d tended) roles() (roles []string) {
	d.t.Helper()
	for line := range strings.Lines(d.run(0, "list")) {
		roles = append(roles, strings.Fields(line)[1])
	}
	return roles
}

func (d tended) wantRoles(want ...string) {
	d.t.Helper()
	if got := d.roles(); strings.Join(got, " ") != strings.Join(want, " ") {
		d.t.Errorf("the keys are %v, want %v", got, want)
	}
}

// token opens an account's token with the current keyset.
func (d tended) token() string {
	d.t.Helper()
	accounts := *d.Accounts
	var err error
	accounts.Sealer, err = secret.OpenKeyset(d.Keyset.Path)
	d.Must(err)
	_, use, err := accounts.Open(d.t.Context(), d.account)
	d.Must(err)
	return use.Token.Reveal()
}

func TestKeysAreRotatedFromTheCommandLine(t *testing.T) {
	d := openTended(t)
	before := d.token()
	d.wantRoles("primary")
	if output := d.run(0, "rotate"); !strings.Contains(output, "is now the primary key") {
		t.Errorf("rotate: got %q", output)
	}
	d.wantRoles("enabled", "primary")
	// Retiring the old key now would make its values unreadable.
	if output := d.run(1, "retire"); !strings.Contains(output, "keys reencrypt") {
		t.Errorf("retiring too early: got %q", output)
	}
	d.wantRoles("enabled", "primary")
	if output := d.run(0, "reencrypt"); strings.Contains(output, "re-encrypted 0 values") {
		t.Errorf("reencrypt: got %q", output)
	}
	if output := d.run(0, "reencrypt"); !strings.Contains(output, "re-encrypted 0 values") {
		t.Errorf("second reencrypt: got %q", output)
	}
	if output := d.run(0, "retire"); !strings.Contains(output, "retired 1 keys") {
		t.Errorf("retire: got %q", output)
	}
	d.wantRoles("retired", "primary")

	// A key that every process gets before it seals with it.
	added := strings.Trim(strings.Fields(d.run(0, "add"))[2], ";,")
	d.wantRoles("retired", "primary", "enabled")
	d.run(0, "promote", added)
	d.wantRoles("retired", "enabled", "primary")
	old := strings.Fields(d.run(0, "list"))[0]
	d.run(0, "enable", old)
	d.wantRoles("enabled", "enabled", "primary")
	if after := d.token(); after != before {
		t.Error("the account's token is another")
	}
	for _, wrong := range []struct {
		status int
		args   []string
	}{
		{2, []string{"promote"}},
		{1, []string{"promote", "newest"}},
		{1, []string{"promote", "7"}},
		{2, []string{"forget"}},
	} {
		d.run(wrong.status, wrong.args...)
	}
	d.environ = d.environ[1:]
	if output := d.run(1, "list"); !strings.Contains(output, "DATABASE_URL") {
		t.Errorf("without a database: got %q", output)
	}
}

// `dateline up` starts the database itself, so it re-encrypts on its own and
// retires old keys on request.
func TestUpRetiresKeys(t *testing.T) {
	d := openTended(t)
	before := d.token()
	d.run(0, "rotate")
	start := func(retire bool) string {
		t.Helper()
		sealer, err := secret.OpenKeyset(d.Keyset.Path)
		d.Must(err)
		var output bytes.Buffer
		r := &running{
			program: &Program{Stderr: &output}, cfg: &config.Config{Keyset: d.Keyset.Path},
			log: slog.New(slog.DiscardHandler), retire: retire,
		}
		d.Must(r.rotateKeys(t.Context(), &parts{store: d.Store, sealer: sealer}))
		return output.String()
	}
	if output := start(false); output != "" {
		t.Errorf("got %q", output)
	}
	d.wantRoles("enabled", "primary")
	if output := d.run(0, "reencrypt"); !strings.Contains(output, "re-encrypted 0 values") {
		t.Errorf("after a start: got %q", output)
	}
	if output := start(true); output != "Retired 1 keys.\n" {
		t.Errorf("got %q", output)
	}
	d.wantRoles("retired", "primary")
	if d.token() != before {
		t.Error("the account's token is another")
	}
}
