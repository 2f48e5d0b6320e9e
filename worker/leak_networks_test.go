package worker

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"testing"

	"dateline/internal/identity/secret"
	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
	"dateline/platforms/fake"
	"dateline/platforms/network"
)

// refusals are network errors that repeat the request.
func refusals(text string) map[string]any {
	graph := map[string]any{
		"error": map[string]any{"message": text, "type": "OAuthException", "code": 100, "error_user_msg": text},
	}
	return map[string]any{
		"mastodon": map[string]any{"error": text}, "facebook": graph, "instagram": graph, "threads": graph,
		"x":        map[string]any{"title": "Invalid Request", "detail": text, "type": "about:blank", "status": 400},
		"linkedin": map[string]any{"message": text, "status": 422}, "bluesky": map[string]any{
			"error": "InvalidRequest", "message": text,
		},
		"discord": map[string]any{"code": 50035, "message": text}, "telegram": map[string]any{
			"ok": false, "error_code": 400, "description": text,
		},
		"ghost":     map[string]any{"errors": []any{map[string]any{"message": text, "type": "BadRequestError"}}},
		"nostr":     text,
		"slack":     map[string]any{"ok": false, "error": text},
		"wordpress": map[string]any{"code": "rest_error", "message": text, "data": map[string]any{"status": 400}},
		"zalo":      map[string]any{"error": -201, "message": text},
	}
}

// An account at every network goes through every failure. Nothing that the
// networks issued or received as a secret is stored in plain text.
func TestSecrets_OfNetworksAreNotStoredInTheOpen(t *testing.T) {
	t.Parallel()
	n := openSecrets(t)
	all := n.Everywhere()
	networks := map[string]bool{}
	for _, a := range all {
		networks[a.Network] = true
	}
	if len(networks) != len(n.Networks.Names()) {
		t.Fatalf("connected %v of %v", networks, n.Networks.Names())
	}
	n.publish(post.Posted, all...)

	// Refused: renewed and sent again where possible.
	for name := range networks {
		n.Must(n.Fake.Inject(fake.Fault{Kind: fake.TokenExpired, Network: name, Method: http.MethodPost}))
	}
	refused := n.publish(post.PartlyPosted, all...)
	for _, target := range refused.Targets {
		a := named(all, target)
		if want := map[bool]post.TargetStatus{
			true:  post.TargetPosted,
			false: post.TargetFailed,
		}[a.IsRenewable]; target.Status != want {
			t.Errorf("%s: %s after a refusal, want %s", a.Network, target.Status, want)
		}
	}
	n.Fake.ClearFaults()
	all = n.Everywhere() // again

	// Renewed ahead of time, with the network failing at first.
	for _, a := range all {
		if !a.IsRenewable {
			continue
		}
		n.Exec("update accounts set refresh_due_at = now() where id = $1", a.ID)
		n.Must(n.starter.StartRefresh(t.Context(), a.ID))
		await(t, "a renewal at "+a.Network, func() bool {
			now, err := n.Store.Publishing.Accounts.Account(t.Context(), a.ID)
			return err == nil && now.TokenVersion > a.TokenVersion
		})
	}

	// Networks that repeat the request in their errors.
	for _, a := range all {
		now, use, err := n.Accounts.Open(t.Context(), a.ID)
		n.Must(err)
		echo := func(method, sent string) {
			body, err := json.Marshal(refusals("No good: " + sent)[a.Network])
			n.Must(err)
			n.Fake.ClearFaults()
			n.Must(n.Fake.Inject(fake.Fault{
				Kind: fake.Status, Status: 400, Network: a.Network, Method: method, Body: string(body), Count: -1,
			}))
		}
		echo(http.MethodPost, use.Token.Reveal())
		n.publish(post.Failed, a)
		if a.IsRenewable {
			sent := use.RefreshToken.Reveal()
			if _, ok := n.Networks.Connector(a.Network); ok {
				sent += " " + network.SandboxApp("", "").ClientSecret.Reveal()
			}
			echo("", sent)
			if r, err := n.Accounts.Renew(t.Context(), a.ID, now.TokenVersion); err != nil ||
				r.Outcome == account.Renewed {
				t.Errorf("%s: %+v, %v", a.Network, r, err)
			}
		}
		echo("", use.Token.Reveal())
		_, err = n.Accounts.Check(t.Context(), n.Owner, a.ID)
		if e := (*apperr.Error)(nil); err != nil && !errors.As(err, &e) {
			t.Errorf("%s: %v", a.Network, err)
		}
		n.Fake.ClearFaults()
	}

	// Invalid input, and revoked tokens.
	const wrong = "a-secret-that-was-never-good"
	for name, field := range map[string]string{
		"bluesky": "app_password", "discord": "bot_token", "ghost": "admin_key", "nostr": "key",
		"slack": "bot_token", "telegram": "bot_token", "wordpress": "app_password",
	} {
		values := map[string]secret.Text{
			"site": secret.NewText(n.Fake.NetworkURL("wordpress")), "user": secret.NewText("desk"),
			"handle": secret.NewText("desk.test"), "channel_id": secret.NewText("12345678901234567"),
			"chat": secret.NewText("@desk"),
		}
		form, _ := n.Networks.FormConnector(name)
		for given := range values {
			if !slices.ContainsFunc(form.Fields(), func(f network.FormField) bool { return f.Name == given }) {
				delete(values, given)
			}
		}
		values[field] = secret.NewText(wrong)
		if _, err := n.Accounts.ConnectForm(t.Context(), n.Owner, account.Instance{Network: name, Sandbox: true},
			values); err == nil {
			t.Errorf("%s: a wrong secret connected something", name)
		} else {
			n.Scheduler.Log.Info("refused as it should be", "error", err)
		}
	}
	for _, a := range all {
		_, err := n.Accounts.Disconnect(t.Context(), n.Owner, a.ID)
		n.Must(err)
	}
	n.wantNowhere(all[0], wrong, fake.BlueskyAppPassword, network.SandboxApp("", "").ClientSecret.Reveal())
}

func named(accounts []account.Account, t post.Target) account.Account {
	return accounts[slices.IndexFunc(accounts, func(a account.Account) bool { return a.ID == t.AccountID })]
}
