package api_test

import (
	"net/http"
	"strings"
	"testing"

	"dateline/api"
)

func TestAuthenticate_RejectsInvalidTokens(t *testing.T) {
	t.Parallel()
	s := start(t)
	for header, code := range map[string]string{
		"": "token_required", "Bearer": "token_required",
		"Bearer ": "token_required", "Basic dTpw": "token_required",
		s.Token: "token_required", "Bearer dl_wrong": "token_invalid", "Bearer " + s.Token + "x": "token_invalid",
	} {
		for _, path := range []string{"/api/v1/posts", "/api/v1/accounts"} {
			a := s.send("GET", path, nil, "Authorization", header)
			s.refused(a, 401, code)
			if !strings.HasPrefix(a.Header.Get("WWW-Authenticate"), "Bearer ") {
				t.Errorf("%q: WWW-Authenticate is %q", header, a.Header.Get("WWW-Authenticate"))
			}
		}
	}
	if a := s.send("GET", "/api/v1/posts", nil, "Authorization", "bearer "+s.Token); a.StatusCode != http.StatusOK {
		t.Errorf("lower-case scheme: got %s, want 200 (schemes are case-insensitive)", a.Status)
	}
	// Before the body is parsed
	s.refused(s.send("POST", "/api/v1/posts", "{broken", "Authorization", ""), 401, "token_required")
}

func TestAuthenticate_RejectsARevokedTokenAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	if a := s.send("GET", "/api/v1/posts", nil); a.StatusCode != http.StatusOK {
		t.Fatal(a.Status)
	}
	s.Exec("update api_tokens set revoked_at = now()")
	s.refused(s.send("GET", "/api/v1/posts", nil), 401, "token_revoked")
}

// Operations without a row in accessTable are refused. Public operations are also
// public in openapi.yaml.
func TestAccess_HasARowForEveryOperation(t *testing.T) {
	t.Parallel()
	s := start(t)
	described := map[string]bool{}
	for path, item := range s.answers.doc.Paths.Map() {
		for method, op := range item.Operations() {
			described[op.OperationID] = true
			public, known := api.Ruled(op.OperationID)
			if op.OperationID == "" || !known {
				t.Errorf("%s %s: give %q a row in accessTable()", method, path, op.OperationID)
			}
			if open := op.Security != nil && len(*op.Security) == 0; open != public {
				t.Errorf("%s: public is %v in openapi.yaml and %v in accessTable()", op.OperationID, open, public)
			}
		}
	}
	for _, id := range api.RuledOperations() {
		if !described[id] {
			t.Errorf("%s is in accessTable() but not in openapi.yaml", id)
		}
	}
}

func TestAccess_OtherWorkspacesAreNotFound(t *testing.T) {
	t.Parallel()
	s := start(t)
	account := s.Connect("desk")
	p, file := s.Schedule(), s.upload("a.png", "")
	_, _, rival := s.Found("Rivals")
	as := []string{"Authorization", "Bearer " + rival}
	path := "/api/v1/posts/" + p.ID.String()
	s.refused(s.send("GET", path, nil, as...), 404, "post_not_found")
	s.refused(s.send("PATCH", path, object{"content": "Mine"}, as...), 404, "post_not_found")
	s.refused(s.send("DELETE", path, nil, as...), 404, "post_not_found")
	s.refused(s.send("POST", path+"/publish-now", nil, as...), 404, "post_not_found")
	s.refused(s.send("GET", path+"/events", nil, as...), 404, "post_not_found")
	s.refused(s.send("GET", "/api/v1/media/"+file.Id.String(), nil, as...), 404, "media_not_found")
	s.refused(s.send("POST", "/api/v1/posts", hello(object{"accounts": []string{account.ID.String()}}), as...), 422,
		"invalid_request", "accounts[0]")
	for _, list := range []string{"/api/v1/posts", "/api/v1/accounts"} {
		if a := s.send("GET", list, nil, as...); strings.Contains(string(a.body), "desk") ||
			strings.Contains(string(a.body), p.ID.String()) {
			t.Errorf("%s reveals %s", list, a.body)
		}
	}
}

func TestLog_OmitsTokensTextAndQueries(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	s.send("POST", "/api/v1/posts", hello(object{"content": "A very secret scoop"}), "Idempotency-Key", "my-key-4711")
	s.send("GET", "/api/v1/oauth/callback?state=state-4711&code=code-4711", nil)
	s.send("POST", "/api/v1/accounts", object{
		"network": "mastodon", "base_url": s.Fake.URL(), "access_token": "token-4711",
	})
	if !strings.Contains(s.log.String(), "request_id") {
		t.Error("requests are not logged")
	}
	for _, secret := range []string{s.Token, "scoop", "4711"} {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("the log contains %q:\n%s", secret, s.log)
		}
	}
}

func TestProblem_HidesDatabaseDetails(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	s.Store.Close()
	s.refused(s.send("GET", "/api/v1/posts", nil), 503, "unavailable")
	s.refused(s.send("POST", "/api/v1/posts", hello()), 503, "unavailable")
	if !strings.Contains(s.log.String(), "closed pool") {
		t.Errorf("the log does not say why:\n%s", s.log)
	}
}
