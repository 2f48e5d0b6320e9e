package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

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

// Every operation says who may call it, or the program does not start.
func TestAccess_IsDefinedForEveryOperation(t *testing.T) {
	t.Parallel()
	doc, err := api.ReadDocument()
	if err != nil {
		t.Fatal(err)
	}
	if err := api.CheckAccess(doc); err != nil {
		t.Fatal(err)
	}
	token, session, optional := openapi3.SecurityRequirement{"token": {}}, openapi3.SecurityRequirement{"session": {}},
		openapi3.SecurityRequirement{}
	for name, c := range map[string]struct {
		role, scope any // nil: absent
		security    *openapi3.SecurityRequirements
		want        string // in the error; empty: none
	}{
		"OK":               {"viewer", "posts:read", nil, ""},
		"AnyToken":         {"owner", "any", nil, ""},
		"Public":           {"public", nil, &openapi3.SecurityRequirements{}, ""},
		"OptionalSession":  {"public", nil, &openapi3.SecurityRequirements{optional, session}, ""},
		"SessionOnly":      {"viewer", nil, &openapi3.SecurityRequirements{session}, ""},
		"TokenOnly":        {"editor", "any", &openapi3.SecurityRequirements{token}, ""},
		"Nothing":          {nil, nil, nil, `x-role is ""`},
		"NoRole":           {nil, "posts:read", nil, `x-role is ""`},
		"UnknownRole":      {"boss", "any", nil, `x-role is "boss"`},
		"RoleInCapitals":   {"Viewer", "any", nil, `x-role is "Viewer"`},
		"RoleIsAList":      {[]any{"viewer"}, "any", nil, "x-role is"},
		"NoScope":          {"viewer", nil, nil, `x-scope is ""`},
		"UnknownScope":     {"viewer", "posts:all", nil, `x-scope is "posts:all"`},
		"Everything":       {"viewer", "*", nil, `x-scope is "*"`},
		"PublicWithToken":  {"public", nil, nil, "public: false"},
		"RoleWithoutLogin": {"viewer", "any", &openapi3.SecurityRequirements{}, "public: true"},
		"RoleOptional":     {"viewer", nil, &openapi3.SecurityRequirements{optional, session}, "public: true"},
		"PublicWithScope":  {"public", "any", &openapi3.SecurityRequirements{}, "x-scope must be absent"},
		"SessionWithScope": {"viewer", "any", &openapi3.SecurityRequirements{session}, "x-scope must be absent"},
	} {
		t.Run(name, func(t *testing.T) {
			op := &openapi3.Operation{OperationID: "changed", Extensions: map[string]any{}, Security: c.security}
			for extension, value := range map[string]any{"x-role": c.role, "x-scope": c.scope} {
				if value != nil {
					op.Extensions[extension] = value
				}
			}
			changed := *doc
			changed.Paths = openapi3.NewPaths(openapi3.WithPath("/changed", &openapi3.PathItem{Get: op}))
			for path, item := range doc.Paths.Map() {
				changed.Paths.Set(path, item)
			}
			_, err := accessControlOf(t, &changed)
			if c.want == "" {
				if err != nil {
					t.Errorf("got %v, want none", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), "GET /changed: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got the error %v, want one about GET /changed: %s", err, c.want)
			}
		})
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
