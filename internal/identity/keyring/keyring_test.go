package keyring_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/site"
	"dateline/internal/identity/keyring"
	"dateline/internal/identity/secret"
	"dateline/internal/infra/idempotency"
	"dateline/internal/publishing/account"
	"dateline/internal/storage/postgres/installation"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/newsroomtest"
	"dateline/platforms/fake"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func manager(n *newsroomtest.Newsroom) *keyring.Manager {
	return &keyring.Manager{
		Store: n.Store.Installation.Secrets, Columns: installation.SealedColumns(), Sealer: n.Sealer, Source: n.Keyset,
		BatchSize: 3,
	}
}

func text(t *testing.T, n *newsroomtest.Newsroom, sql string, args ...any) (list []string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), n.DatabaseURL)
	n.Must(err)
	defer func() { _ = c.Close(context.WithoutCancel(t.Context())) }()
	rows, err := c.Query(t.Context(), sql, args...)
	n.Must(err)
	list, err = pgx.CollectRows(rows, pgx.RowTo[string])
	n.Must(err)
	return list
}

// Every bytea column is either sealed and re-encrypted, or known not to be.
func TestEveryColumnOfBytesIsAccountedFor(t *testing.T) {
	n := newsroomtest.Open(t)
	open := []string{
		// Hashes of other parties' secrets
		"account_choices.key", "api_tokens.hash", "connect_attempts.state", "sessions.hash", "login_links.hash",
		"member_login_links.hash",
		"login_answers.hash", "sites.secret_hash", "shared_links.token_hash", "shared_links.password_hash",
		"saved_searches.feed_hash", "review_links.secret_hash", "websub_subscriptions.callback_hash",
		// Hashes of content
		"idempotency_keys.request_hash", "media.sha256", "media_renditions.sha256", "media_uploads.sha256",
		"operations.fingerprint", "operations.content_key", "post_targets.fingerprint", "rule_decisions.text_hash",
		"view_pages.sketch", // a HyperLogLog: it identifies no one
		"site_days.sketch",
		"account_avatars.image", // public pictures
	}
	var sealed []string
	for _, c := range installation.SealedColumns() {
		sealed = append(sealed, c.Table+"."+c.Column)
	}
	there := text(t, n, "select table_name || '.' || column_name from information_schema.columns where table_schema "+
		"= 'public' and data_type = 'bytea'")
	for _, column := range there {
		if slices.Contains(sealed, column) == slices.Contains(open, column) {
			t.Errorf("%s: add it to store.SealedColumns, so that it is re-encrypted, or here if it contains "+
				"nothing sealed", column)
		}
	}
	for _, column := range sealed {
		if !slices.Contains(there, column) {
			t.Errorf("%s does not exist", column)
		}
	}
}

// fill creates a value for every sealed column.
func fill(t *testing.T, n *newsroomtest.Newsroom) account.Account {
	t.Helper()
	a := n.Allow("desk") // a registration, too
	_, err := n.Accounts.StartAuthorization(t.Context(), n.Owner, account.Instance{Network: "mastodon", Sandbox: true})
	n.Must(err)
	_, _, _, err = n.Webhooks.Create(t.Context(), n.Owner, "https://hooks.example/x", "", nil, idempotency.Key{})
	n.Must(err)
	_, _, _, err = n.Sites.Create(t.Context(), n.Owner,
		site.Site{
			Name: "News", WindowSeconds: 1800, UniqueMethod: counter.HyperLogLog, RateHits: 5, RateSeconds: 10,
			Visitors: site.Cookie,
		}, idempotency.Key{})
	n.Must(err)
	n.Exec("insert into account_choices (id, workspace_id, user_id, network, app, key, accounts, expires_at) values "+
		"('0192f1a0-7c00-7000-8000-000000000001', $1, $2, 'mastodon', '', '', '', now() + interval '15 minutes')",
		n.Workspace.ID, n.Owner.UserID)
	choice, err := n.Sealer.Seal(secret.NewText("[]"), "choice/0192f1a0-7c00-7000-8000-000000000001")
	n.Must(err)
	n.Exec("update account_choices set accounts = $1", choice)
	return a
}

func TestOldKeysAreRetiredWhenNothingIsSealedWithThem(t *testing.T) {
	n := newsroomtest.OpenWith(t, fake.Options{AutoApprove: true, TokenTTL: time.Hour})
	a := fill(t, n)
	other := n.Connect("sports")
	_, use, err := n.Accounts.Open(t.Context(), other.ID)
	n.Must(err)
	disconnected := n.Connect("weather")
	_, err = n.Accounts.Disconnect(t.Context(), n.Owner, disconnected.ID) // has nothing sealed
	n.Must(err)

	k := manager(n)
	if retired, err := k.Retire(t.Context(), ""); err != nil || len(retired) != 0 {
		t.Errorf("retired %v of one key, %v", retired, err)
	}
	before := n.Sealer.Primary()
	_, err = secret.Rotate(t.Context(), n.Keyset, "")
	n.Must(err)
	if _, err := k.Retire(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "7 values") {
		t.Errorf("retired a key in use: %v", err)
	}
	var done, total int
	k.OnProgress = func(d, t int) { done, total = d, t }
	report, err := k.Reencrypt(t.Context())
	if err != nil || report.Reencrypted != 7 || len(report.Undecryptable) != 0 || done != 7 || total != 7 {
		t.Errorf("%+v, %d of %d, %v", report, done, total, err)
	}
	if report, err = k.Reencrypt(t.Context()); err != nil || report.Reencrypted != 0 {
		t.Errorf("again %+v, %v", report, err)
	}
	counts, err := k.Counts(t.Context())
	if err != nil || counts[string(before)] != 0 || counts[string(n.Sealer.Primary())] != 7 {
		t.Errorf("%v, %v", counts, err)
	}
	if retired, err := k.Retire(t.Context(), ""); err != nil || len(retired) != 1 {
		t.Errorf("retired %v, %v", retired, err)
	}
	// Everything sealed still works in a process that has only the new key.
	fresh, err := secret.Open(t.Context(), n.Keyset)
	n.Must(err)
	s := *n.Accounts
	s.Sealer = fresh
	if r, err := s.Renew(t.Context(), a.ID, a.TokenVersion); err != nil || r.Outcome != account.Renewed {
		t.Errorf("renewed %+v, %v", r, err)
	}
	if _, again, err := s.Open(t.Context(), other.ID); err != nil || again.Token.Reveal() != use.Token.Reveal() {
		t.Errorf("the token of another account: %v", err)
	}
	for _, c := range installation.SealedColumns() {
		rows, err := n.Store.Installation.Secrets.SealedWithOtherKeys(t.Context(), c, []byte("none\n"), "", 100)
		n.Must(err)
		for _, row := range rows {
			if _, err := fresh.Open(row.Bytes, row.Name); err != nil {
				t.Errorf("a value of %s is lost", c.Table)
			}
		}
	}
}

func TestRotate_ReportsUndecryptableValues(t *testing.T) {
	n := newsroomtest.Open(t)
	a := n.Connect("desk")
	n.Exec("update accounts set token = '\\x01020304050607' where id = $1", a.ID)
	if report, err := manager(n).Reencrypt(t.Context()); err != nil || report.Undecryptable["accounts"] != 1 ||
		report.Reencrypted != 0 {
		t.Errorf("%+v, %v", report, err)
	}
}

// Keys are rotated and everything is re-encrypted while tokens are used and renewed,
// without any error.
func TestRotationUnderUse(t *testing.T) {
	n := newsroomtest.OpenWith(t, fake.Options{AutoApprove: true, TokenTTL: time.Hour})
	var accounts []account.Account
	first := n.Allow("desk")
	for _, name := range []string{"sports", "weather", "economy"} {
		accounts = append(accounts, n.Connect(name))
	}
	other, err := secret.Open(t.Context(), n.Keyset) // another process
	n.Must(err)
	second := *n.Accounts
	second.Sealer = other

	stop := make(chan struct{})
	var users sync.WaitGroup
	var used, renewed atomic.Int32
	for _, s := range []*account.Service{n.Accounts, &second} {
		users.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				for _, a := range accounts {
					if _, use, err := s.Open(t.Context(), a.ID); err != nil || use.Token.Empty() {
						t.Errorf("a token does not open: %v", err)
						return
					}
					used.Add(1)
				}
			}
		})
		users.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				a, err := n.Store.Publishing.Accounts.Account(t.Context(), first.ID)
				if err != nil {
					t.Error(err)
					return
				}
				r, err := s.Renew(t.Context(), a.ID, a.TokenVersion)
				if err != nil || r.Outcome != account.Renewed {
					t.Errorf("not renewed: %+v, %v", r, err)
					return
				}
				renewed.Add(1)
			}
		})
	}
	var total int
	for range 4 {
		_, err := secret.Rotate(t.Context(), n.Keyset, "")
		n.Must(err)
		// Values that a slow process has just sealed with the previous key are found by
		// the next run.
		for {
			report, err := manager(n).Reencrypt(t.Context())
			n.Must(err)
			if total += report.Reencrypted; report.Reencrypted == 0 {
				break
			}
		}
		if used.Load() == 0 || renewed.Load() == 0 {
			time.Sleep(10 * time.Millisecond)
		}
	}
	close(stop)
	users.Wait()
	if used.Load() == 0 || renewed.Load() == 0 || total < 4*len(accounts) {
		t.Errorf("used %d times, renewed %d times, resealed %d values", used.Load(), renewed.Load(), total)
	}
	if _, err := manager(n).Reencrypt(t.Context()); err != nil {
		t.Error(err)
	}
	if retired, err := manager(n).Retire(t.Context(), ""); err != nil || len(retired) != 4 {
		t.Errorf("retired %v, %v", retired, err)
	}
	for _, a := range append(accounts, first) {
		if _, use, err := second.Open(t.Context(), a.ID); err != nil || use.Token.Empty() {
			t.Errorf("lost: %v", err)
		}
	}
}
