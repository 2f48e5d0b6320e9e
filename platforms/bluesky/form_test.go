package bluesky_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"dateline/platforms/bluesky"
	"dateline/platforms/fake"
	"dateline/platforms/network"
)

func TestConnectForm_Sandbox(t *testing.T) {
	server := startFake(t, fake.Options{})
	b, account, _ := sandbox(t, server, bluesky.Options{})
	if account.Handle != "@desk.test" {
		t.Errorf("account.Handle: got %q, want %q", account.Handle, "@desk.test")
	}
	if account.Name != "Desk" {
		t.Errorf("account.Name: got %q, want %q", account.Name, "Desk")
	}
	if !strings.HasPrefix(account.RemoteID, "did:plc:") {
		t.Errorf("connected %+v", account)
	}
	if account.BaseURL != server.URL()+"/bluesky" {
		t.Errorf("account.BaseURL: got %v, want %v", account.BaseURL, server.URL()+"/bluesky")
	}
	if account.TokenExpiresAt.IsZero() {
		t.Errorf("connected %+v", account)
	}
	if account.RefreshTokenExpiresAt.IsZero() {
		t.Errorf("connected %+v", account)
	}
	if len(account.Scopes) != 1 {
		t.Fatalf("len(account.Scopes): got %v, want %v", len(account.Scopes), 1)
	}
	if names := b.Fields(); len(names) != 3 || names[0].Name != "handle" || !names[1].Secret || !names[2].Optional {
		t.Errorf("fields %+v", names)
	}
	base := account.BaseURL
	for name, row := range map[string]struct {
		handle, password, code string
		class                  network.Class
		field                  string
	}{
		"NoPassword":    {"desk.test", "", "missing", network.Rejected, "app_password"},
		"NoHandle":      {" @ ", fake.BlueskyAppPassword, "missing", network.Rejected, "handle"},
		"WrongPassword": {"desk.test", "wrong-wrong", "AuthenticationRequired", network.Auth, "app_password"},
		"MainPassword":  {"desk.test", fake.BlueskyPassword, "main_password", network.Rejected, "app_password"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := b.ConnectForm(t.Context(), base, form(row.handle, row.password, ""))
			secrets := []string{row.password}
			if row.password == "" || row.password == fake.BlueskyPassword { // which is also a word
				secrets = nil
			}
			if e := wantClass(t, err, row.class, row.field, secrets...); e.Code != row.code {
				t.Errorf("code %s, want %s", e.Code, row.code)
			}
		})
	}
	for _, bad := range []string{
		"bsky.social", "http://bsky.social", "https://u:p@bsky.social",
		"https://bsky.social/x", "ftp://bsky.social", server.URL() + "/bluesky/",
	} {
		_, err := b.ConnectForm(t.Context(), "", form("desk.test", "x", bad))
		if e := wantClass(t, err, network.Rejected, "pds"); e.Code != "bad_address" {
			t.Errorf("%s: %v", bad, e)
		}
	}
}

// serveHosts serves several hosts by name on one TLS server.
func serveHosts(t *testing.T, hosts map[string]http.HandlerFunc) *http.Client {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if serve := hosts[r.Host]; serve != nil {
			serve(w, r)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
		},
	}}
}

// A handle resolves to a DID, that to a server, and the password is sent only to
// a server that both name.
func TestConnectForm_ResolvesHandle(t *testing.T) {
	const did = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"
	var passwords []string
	login := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/xrpc/com.atproto.server.createSession" {
			http.NotFound(w, r)
			return
		}
		var in struct{ Identifier, Password string }
		_ = json.NewDecoder(r.Body).Decode(&in)
		passwords = append(passwords, r.Host+" "+in.Identifier)
		answer(w, map[string]string{
			"did": in.Identifier, "handle": "news.example.com", "accessJwt": "a", "refreshJwt": "r",
		})
	}
	document := func(known, endpoint string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			id := strings.TrimPrefix(r.URL.Path, "/")
			if id == ".well-known/did.json" {
				id = "did:web:" + r.Host
			}
			answer(w, map[string]any{"id": id, "alsoKnownAs": []string{known}, "service": []any{
				map[string]any{"id": "#other", "type": "Other", "serviceEndpoint": map[string]string{"x": "y"}},
				map[string]any{
					"id": id + "#atproto_pds", "type": "AtprotoPersonalDataServer",
					"serviceEndpoint": endpoint,
				},
			}})
		}
	}
	for name, row := range map[string]struct {
		handle string
		hosts  map[string]http.HandlerFunc
		sent   string // server that received the password, and the login name; empty: refused
		code   string
	}{
		"WellKnown": {
			"News.Example.com",
			map[string]http.HandlerFunc{
				"news.example.com": text(did + "\n"),
				"plc.directory":    document("at://news.example.com", "https://pds.example.com"),
				"pds.example.com":  login,
			},
			"pds.example.com " + did, "",
		},
		"Entryway": {
			"desk",
			map[string]http.HandlerFunc{
				"bsky.social":   resolving(map[string]string{"desk.bsky.social": did}),
				"plc.directory": document("at://desk.bsky.social", "https://pds.example.com"), "pds.example.com": login,
			},
			"pds.example.com " + did, "",
		},
		"Web": {
			"news.example.com",
			map[string]http.HandlerFunc{
				"news.example.com": text("did:web:id.example.com"),
				"id.example.com":   document("at://news.example.com", "https://pds.example.com"),
				"pds.example.com":  login,
			},
			"pds.example.com did:web:id.example.com", "",
		},
		"Identity": {did, map[string]http.HandlerFunc{
			"plc.directory":   document("at://somebody.example.com", "https://pds.example.com"),
			"pds.example.com": login,
		}, "pds.example.com " + did, ""},
		"NotConfirmed": {"news.example.com", map[string]http.HandlerFunc{
			"news.example.com": text(did),
			"plc.directory":    document("at://victim.example.com", "https://pds.example.com"),
			"pds.example.com":  login,
		}, "", "handle_not_confirmed"},
		"PlainServer": {"news.example.com", map[string]http.HandlerFunc{
			"news.example.com": text(did), "plc.directory": document("at://news.example.com", "http://pds.example.com"),
			"pds.example.com": login,
		}, "", "bad_address"},
		"NoIdentity": {
			"news.example.com", map[string]http.HandlerFunc{
				"news.example.com": text("<html>"),
				"bsky.social":      resolving(nil),
			}, "", "unknown_handle",
		},
		"NoDirectory": {"news.example.com", map[string]http.HandlerFunc{"news.example.com": text(did)}, "", "http_404"},
		"NoHandle":    {"someone@example.com", nil, "", "bad_handle"},
	} {
		t.Run(name, func(t *testing.T) {
			passwords = nil
			b := bluesky.New(serveHosts(t, row.hosts), bluesky.Options{})
			found, err := b.ConnectForm(t.Context(), "", form(row.handle, "aaaa-bbbb", ""))
			if row.sent == "" {
				if len(passwords) > 0 || err == nil || network.AsError(err).Code != row.code {
					t.Errorf("passwords to %v; %v, want %s", passwords, err, row.code)
				}
				return
			}
			if err != nil || len(found) != 1 || len(passwords) != 1 || passwords[0] != row.sent {
				t.Errorf("found %+v with the password at %v, %v", found, passwords, err)
			}
		})
	}
	t.Run("AnotherAccount", func(t *testing.T) {
		b := bluesky.New(serveHosts(t, map[string]http.HandlerFunc{
			"plc.directory": document("at://x.example.com", "https://pds.example.com"),
			"pds.example.com": func(w http.ResponseWriter, _ *http.Request) {
				answer(w, map[string]string{
					"did": "did:plc:bbbbbbbbbbbbbbbbbbbbbbbb", "handle": "x", "accessJwt": "a",
					"refreshJwt": "r",
				})
			},
		}), bluesky.Options{})
		_, err := b.ConnectForm(t.Context(), "", form(did, "aaaa-bbbb", ""))
		wantClass(t, err, network.Rejected, "handle", "aaaa-bbbb")
	})
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value)
}

func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/.well-known/atproto-did" {
			_, _ = w.Write([]byte(body))
			return
		}
		http.NotFound(w, r)
	}
}

func resolving(names map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		query, _ := url.ParseQuery(r.URL.RawQuery)
		if did := names[query.Get("handle")]; did != "" {
			answer(w, map[string]string{"did": did})
			return
		}
		w.WriteHeader(http.StatusBadRequest)
		answer(w, map[string]string{"error": "InvalidRequest", "message": "Unable to resolve handle"})
	}
}
