package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dateline/api/spec"
	"dateline/internal/identity/secret"
	"dateline/internal/identity/workspace"
	"dateline/internal/testing/newsroomtest"
	"dateline/platforms"
	"dateline/platforms/fake"
	"dateline/platforms/mastodon"
	"dateline/platforms/network"
)

func TestConnect_ThroughTheConsentPage(t *testing.T) {
	t.Parallel()
	s := start(t)
	_, err := s.Fake.AddAccount("desk")
	s.Must(err)
	var begun struct {
		AuthorizeURL string `json:"authorize_url"`
	}
	s.decode(s.send("POST", "/api/v1/accounts/connect", object{"network": "mastodon", "base_url": s.Fake.URL()}), 200,
		&begun)
	browser := &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, begun.AuthorizeURL, nil)
	s.Must(err)
	consent, err := browser.Do(r)
	s.Must(err)
	s.Must(consent.Body.Close())
	back, err := consent.Location()
	s.Must(err)

	// The browser sends no API token; the state identifies the login.
	callback := back.Path + "?" + back.RawQuery
	a := s.send("GET", callback, nil, "Authorization", "")
	if a.StatusCode != http.StatusOK || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") ||
		!strings.Contains(string(a.body), "@desk@") {
		t.Errorf("callback: got %s %s", a.Status, a.body)
	}
	var list spec.AccountList
	s.decode(s.send("GET", "/api/v1/accounts", nil), 200, &list)
	if len(list.Accounts) != 1 || !list.Accounts[0].Default || list.Accounts[0].Status != "connected" ||
		*list.Accounts[0].BaseUrl != s.Fake.URL() {
		t.Errorf("accounts %+v", list.Accounts)
	}
	s.post(s.send("POST", "/api/v1/posts", hello()), 201)
	s.refused(s.send("GET", callback, nil, "Authorization", ""), 422, "invalid_request", "state")
}

func TestConnect_ExplainsDeniedConsent(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.refused(s.send("GET", "/api/v1/oauth/callback?state=s&error=access_denied&error_description="+
		strings.Repeat("x", 100), nil, "Authorization", ""), 422, "invalid_request", "code")
	s.refused(s.send("GET", "/api/v1/oauth/callback?state=s", nil, "Authorization", ""), 422, "invalid_request", "code")
}

// Browsers are redirected to the dashboard, which explains the reason. The URL repeats
// nothing from the network or the request.
func TestConnect_FailureRedirectsToAccounts(t *testing.T) {
	t.Parallel()
	s := start(t)
	page := []string{"Authorization", "", "Accept", "text/html,application/xhtml+xml,*/*;q=0.8"}
	for query, reason := range map[string]string{
		"state=s&error=access_denied&error_description=<b>Pay+here</b>": "not_allowed",
		"state=s":        "not_allowed",
		"state=s&code=1": "unknown",
		"code=1":         "failed", // no network omits the state
	} {
		a := s.send("GET", "/api/v1/oauth/callback?"+query, nil, page...)
		if want := "../../../app/accounts?refused=" + reason; a.StatusCode != http.StatusSeeOther ||
			a.Header.Get("Location") != want || len(a.body) != 0 {
			t.Errorf("%s: %s to %s %s, want %s", query, a.Status, a.Header.Get("Location"), a.body, want)
		}
	}
	_, err := s.Fake.AddAccount("desk")
	s.Must(err)
	var begun struct {
		AuthorizeURL string `json:"authorize_url"`
	}
	s.decode(s.send("POST", "/api/v1/accounts/connect", object{"network": "mastodon", "sandbox": true}, s.browser()...),
		200, &begun)
	callback := "/api/v1/oauth/callback?" + newsroomtest.Consent(t, begun.AuthorizeURL).Encode()
	if a := s.send("GET", callback, nil,
		append(page, s.browser()[2:]...)...); a.Header.Get(
		"Location") != "../../../app/accounts?refused=other_session" {
		t.Errorf("in another session: %s to %s", a.Status, a.Header.Get("Location"))
	}
	// All other paths return JSON, whatever Accept says.
	s.refused(s.send("GET", "/api/v1/posts", nil, page...), 401, "token_required")
}

// Without a dashboard, the API renders an error page.
func TestConnect_FailureShowsAPageWithoutADashboard(t *testing.T) {
	t.Parallel()
	s := start(t)
	bare := s.withoutAreas()
	bare.Accounts = s.Accounts
	h, err := bare.Handler()
	s.Must(err)
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/api/v1/oauth/callback?state=s&code=1", nil)
	r.Header.Set("Accept", "text/html")
	h.ServeHTTP(w, r)
	if w.Code != http.StatusUnprocessableEntity || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") ||
		!strings.Contains(w.Body.String(), "Start it again") {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
}

func TestConnect_ByToken(t *testing.T) {
	t.Parallel()
	s := start(t)
	there, err := s.Fake.AddAccount("desk")
	s.Must(err)
	body := object{"network": "mastodon", "base_url": s.Fake.URL(), "access_token": there.Token}
	a := s.send("POST", "/api/v1/accounts", body)
	var made spec.Account
	s.decode(a, 201, &made)
	if !strings.HasPrefix(made.Handle, "@desk@") || !made.Default || strings.Contains(string(a.body), there.Token) {
		t.Errorf("made %s", a.body)
	}
	body["access_token"] = "wrong-horse"
	a = s.send("POST", "/api/v1/accounts", body)
	s.refused(a, 422, "network_refused", "access_token")
	if strings.Contains(string(a.body), "wrong-horse") {
		t.Errorf("the response contains the token: %s", a.body)
	}
}

func TestAccount_EditCheckDisconnect(t *testing.T) {
	t.Parallel()
	s := start(t)
	made := s.Connect("desk")
	there, err := s.Fake.AddAccount("desk")
	s.Must(err)
	path := "/api/v1/accounts/" + made.ID.String()
	var a spec.Account
	s.decode(s.send("GET", path, nil), 200, &a)
	require.Equal(t, made.Handle, a.Handle)
	require.True(t, a.Sandbox)
	require.Equal(t, spec.AccountKind("person"), a.Kind)
	require.False(t, a.Renews)
	require.NotNil(t, a.Health.CheckedAt)
	require.Nil(t, a.Health.Error)
	require.Empty(t, a.Warnings)
	require.Equal(t, s.Owner.UserID, *a.ConnectedBy)
	s.decode(s.send("PATCH", path, object{"default": false, "settings": object{"tier": "premium"}}), 200, &a)
	if a.Default || a.Settings["tier"] != "premium" {
		t.Errorf("changed %+v", a)
	}
	var changed spec.Account
	s.decode(s.send("PATCH", path, object{"default": true, "settings": object{"tier": ""}}), 200, &changed)
	var labeled spec.Account
	s.decode(s.send("PATCH", path, object{"label": " Thể thao ", "color": "teal"}), 200, &labeled)
	if labeled.Label == nil || *labeled.Label != "Thể thao" || labeled.Color == nil || *labeled.Color != "teal" {
		t.Errorf("got label %v and color %v, want Thể thao and teal", labeled.Label, labeled.Color)
	}
	if labeled.Name != changed.Name {
		t.Errorf("got the name %q, want the network's, %q", labeled.Name, changed.Name)
	}
	s.refused(s.send("PATCH", path, object{"color": "mauve"}), 422, "invalid_request", "color")
	var bare spec.Account
	s.decode(s.send("PATCH", path, object{"label": "", "color": ""}), 200, &bare)
	if bare.Label != nil || bare.Color != nil {
		t.Errorf("got label %v and color %v, want none", bare.Label, bare.Color)
	}
	if !changed.Default || len(changed.Settings) != 0 {
		t.Errorf("after changing it back: %+v", changed)
	}
	s.Must(s.Fake.Inject(fake.Fault{Kind: fake.TokenExpired, Path: "/api/v1/accounts/verify_credentials"}))
	s.decode(s.send("POST", path+"/check", nil), 200, &a)
	require.Equal(t, spec.AccountStatus("needs_reconnect"), a.Status)
	require.NotNil(t, a.Health.Error)
	require.Equal(t, "auth", a.Health.Error.Class)
	require.Len(t, a.Warnings, 1)
	require.Equal(t, "needs_reconnect", a.Warnings[0].Code)
	var link struct {
		AuthorizeURL string `json:"authorize_url"`
	}
	s.decode(s.send("POST", path+"/reconnect", nil), 200, &link)
	back := newsroomtest.Consent(t, link.AuthorizeURL)
	if got := s.send("GET", "/api/v1/oauth/callback?"+back.Encode(), nil, "Authorization",
		""); got.StatusCode != http.StatusOK {
		t.Errorf("reconnected: %s %s", got.Status, got.body)
	}
	var disconnected spec.Disconnection
	s.decode(s.send("POST", path+"/disconnect", nil), 200, &disconnected)
	if !disconnected.Revoked || disconnected.Account.Status != "disconnected" || disconnected.Advice != nil {
		t.Errorf("disconnected %+v", disconnected)
	}
	s.refused(s.send("POST", path+"/check", nil), 409, "disconnected")
	s.decode(s.send("POST", "/api/v1/accounts/form",
		object{"network": "mastodon", "sandbox": true, "values": object{"access_token": there.Token}}), 201, &a)
	if a.Id != made.ID || a.Status != "connected" {
		t.Errorf("connected with the form: %+v", a)
	}
	_, _, stranger := s.Found("Rivals")
	for _, r := range [][2]string{{"GET", ""}, {"POST", "/check"}, {"POST", "/reconnect"}, {"POST", "/disconnect"}} {
		s.refused(s.send(r[0], path+r[1], nil, "Authorization", "Bearer "+stranger), 404, "account_not_found")
	}
	s.refused(s.send("PATCH", path, object{"default": true}, "Authorization", "Bearer "+stranger), 404,
		"account_not_found")
	s.refused(s.send("POST", path+"/disconnect", nil, "Authorization", "Bearer "+s.Member(workspace.Author)), 403,
		"role_insufficient")
}

func TestNetworks_ListWaysToConnect(t *testing.T) {
	t.Parallel()
	s := start(t)
	there, err := s.Fake.AddAccount("desk")
	s.Must(err)
	var list spec.NetworkList
	s.decode(s.send("GET", "/api/v1/networks", nil), 200, &list)
	at := slices.IndexFunc(list.Networks, func(n spec.Network) bool { return n.Name == "mastodon" })
	if at < 0 {
		t.Fatalf("%+v", list)
	}
	n := list.Networks[at]
	require.Equal(t, []spec.NetworkWays{"oauth", "form"}, n.Ways)
	require.True(t, n.Configured)
	require.True(t, n.Instances)
	require.True(t, n.Sandbox)
	require.True(t, n.Renews)
	require.True(t, n.Revokes)
	require.Len(t, *n.Fields, 1)
	require.True(t, (*n.Fields)[0].Secret)
	require.Equal(t, map[string]string{"access_token": there.Token}, *n.SandboxValues)
	require.NotNil(t, n.Limits)
	require.Equal(t, 500, *n.Limits.MaxCharacters)
}

// several is a network where one login may post as two pages.
type several struct{ *mastodon.Mastodon }

func (several) Accounts(_ context.Context, a network.Account) ([]network.Account, error) {
	first, second := a, a
	first.RemoteID, first.Handle, first.Name, first.Kind = "1", "@<b>desk</b>", "Desk", network.KindPage
	second.RemoteID, second.Handle, second.Name, second.Kind = "2", "@sports", "Sports", network.KindPage
	return []network.Account{first, second}, nil
}

type registry struct {
	platforms.Registry
	network several
}

func (r registry) Get(string) (network.Network, bool)                 { return r.network, true }
func (r registry) Connector(string) (network.Connector, bool)         { return r.network, true }
func (r registry) FormConnector(string) (network.FormConnector, bool) { return r.network, true }

// ConnectForm returns both pages.
func (s several) ConnectForm(
	ctx context.Context, base string, values map[string]secret.Text,
) ([]network.Account, error) {
	return s.Accounts(ctx, network.Account{BaseURL: base, Token: values["access_token"]})
}

var hidden = regexp.MustCompile(`name="(choice|key)" value="([^"]+)"`)

func TestConnect_BrowserChoosesAmongAccounts(t *testing.T) {
	t.Parallel()
	s := start(t)
	adapter, _ := s.Networks.Get("mastodon")
	s.Accounts.Connectors = registry{s.Networks, several{adapter.(*mastodon.Mastodon)}}
	_, err := s.Fake.AddAccount("desk")
	s.Must(err)
	come := func() url.Values {
		t.Helper()
		var link struct {
			AuthorizeURL string `json:"authorize_url"`
		}
		s.decode(s.send("POST", "/api/v1/accounts/connect", object{"network": "mastodon", "sandbox": true}), 200, &link)
		page := s.send("GET", "/api/v1/oauth/callback?"+newsroomtest.Consent(t, link.AuthorizeURL).Encode(), nil,
			"Authorization", "")
		form := url.Values{}
		for _, field := range hidden.FindAllStringSubmatch(string(page.body), -1) {
			form.Set(field[1], field[2])
		}
		if len(form) != 2 || !strings.Contains(string(page.body), "@&lt;b&gt;desk") ||
			!strings.Contains(string(page.body), "@sports") {
			t.Fatalf("the page is %s", page.body)
		}
		return form
	}
	choose := func(form url.Values) string {
		t.Helper()
		a := s.send("POST", "/api/v1/oauth/choose", form.Encode(), "Authorization", "", "Content-Type",
			"application/x-www-form-urlencoded")
		if a.StatusCode != http.StatusOK {
			t.Fatalf("%s %s", a.Status, a.body)
		}
		return string(a.body)
	}
	form := come()
	if page := choose(form); !strings.Contains(page, "Choose at least one") {
		t.Errorf("nothing selected: %s", page)
	}
	guess := url.Values{"choice": form["choice"], "key": {"guess"}, "remote_id": {"2"}}
	if page := choose(guess); !strings.Contains(page, "has expired") {
		t.Errorf("guessed: %s", page)
	}
	form["remote_id"] = []string{"2"}
	if page := choose(form); !strings.Contains(page, "@sports is connected") {
		t.Errorf("chosen: %s", page)
	}
	form = come()
	path := "/api/v1/account-choices/" + form.Get("choice")
	var c spec.AccountChoice
	s.decode(s.send("GET", path, nil), 200, &c)
	if len(c.Accounts) != 2 || c.Accounts[1].Kind != "page" {
		t.Errorf("%+v", c)
	}
	_, _, stranger := s.Found("Rivals")
	s.refused(s.send("GET", path, nil, "Authorization", "Bearer "+stranger), 404, "choice_not_found")
	s.refused(s.send("POST", path, object{"remote_ids": []string{"1"}}, "Authorization", "Bearer "+stranger), 404,
		"choice_not_found")
	s.refused(s.send("POST", path, object{"remote_ids": []string{"1"}}, "Authorization",
		"Bearer "+s.Member(workspace.Author)), 403, "role_insufficient")
	var list spec.AccountList
	s.decode(s.send("POST", path, object{"remote_ids": []string{"1", "2"}}), 201, &list)
	if len(list.Accounts) != 2 || list.Accounts[0].Kind != "page" {
		t.Errorf("%+v", list)
	}
}

// Submitting without a selection shows the form again, with a hint in the user's
// language.
func TestOAuthChoice_NothingTickedAsksAgain(t *testing.T) {
	t.Parallel()
	s := start(t)
	adapter, _ := s.Networks.Get("mastodon")
	s.Accounts.Connectors = registry{s.Networks, several{adapter.(*mastodon.Mastodon)}}
	_, err := s.Fake.AddAccount("desk")
	s.Must(err)
	var link struct {
		AuthorizeURL string `json:"authorize_url"`
	}
	s.decode(s.send("POST", "/api/v1/accounts/connect", object{"network": "mastodon", "sandbox": true}), 200, &link)
	person := []string{
		"Authorization", "", "Accept", "text/html", "Accept-Language", "vi", "Content-Type",
		"application/x-www-form-urlencoded",
	}
	page := s.send("GET", "/api/v1/oauth/callback?"+newsroomtest.Consent(t, link.AuthorizeURL).Encode(), nil,
		person[:6]...)
	form := url.Values{}
	for _, field := range hidden.FindAllStringSubmatch(string(page.body), -1) {
		form.Set(field[1], field[2])
	}
	again := s.send("POST", "/api/v1/oauth/choose", form.Encode(), person...)
	for _, want := range []string{
		`role="alert">Hãy chọn ít nhất một tài khoản.`, `name="remote_id" value="2"`,
		form.Get("key"),
	} {
		if !strings.Contains(string(again.body), want) {
			t.Errorf("got a page without %s:\n%s", want, again.body)
		}
	}
	form["remote_id"] = []string{"2"}
	if a := s.send("POST", "/api/v1/oauth/choose", form.Encode(), person...); !strings.Contains(string(a.body),
		"Đã kết nối @sports") {
		t.Errorf("got %s %s, want @sports to be connected", a.Status, a.body)
	}
}

// A logged-in browser returns to the dashboard, also for the selection.
func TestOAuth_EndsInTheDashboard(t *testing.T) {
	t.Parallel()
	s := start(t)
	_, err := s.Fake.AddAccount("desk")
	s.Must(err)
	mine := append(s.browser(), "Accept", "text/html")
	land := func() string {
		t.Helper()
		var link struct {
			AuthorizeURL string `json:"authorize_url"`
		}
		s.decode(s.send("POST", "/api/v1/accounts/connect", object{"network": "mastodon", "sandbox": true},
			mine[:len(mine)-2]...), 200, &link)
		a := s.send("GET", "/api/v1/oauth/callback?"+newsroomtest.Consent(t, link.AuthorizeURL).Encode(), nil, mine...)
		if a.StatusCode != http.StatusSeeOther {
			t.Fatalf("got %s %s, want a redirect", a.Status, a.body)
		}
		return a.Header.Get("Location")
	}
	got := land()
	var list spec.AccountList
	s.decode(s.send("GET", "/api/v1/accounts", nil), 200, &list)
	if want := "../../../app/accounts?connected=" + list.Accounts[0].Id.String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	adapter, _ := s.Networks.Get("mastodon")
	s.Accounts.Connectors = registry{s.Networks, several{adapter.(*mastodon.Mastodon)}}
	id, ok := strings.CutPrefix(land(), "../../../app/accounts?choice=")
	if !ok {
		t.Fatalf("got %s, want the choice in the dashboard", id)
	}
	var c spec.AccountChoice
	s.decode(s.send("GET", "/api/v1/account-choices/"+id, nil, s.browser()...), 200, &c)
	if len(c.Accounts) != 2 {
		t.Errorf("got %+v, want two accounts to choose from", c)
	}
}

func TestWarnings_AccessEndsBeforeThePost(t *testing.T) {
	t.Parallel()
	s := start(t)
	a := s.Connect("desk")
	s.Exec("update accounts set expires_at = now() + interval '3 days'")
	for due, want := range map[string]string{in(48 * time.Hour): "[]", in(96 * time.Hour): "[account_expires]"} {
		p := s.post(s.send("POST", "/api/v1/posts", hello(object{"scheduled_time": due})), 201)
		if codes, _ := warnings(p); fmt.Sprint(codes) != want {
			t.Errorf("due %s: %v, want %s", due, codes, want)
		}
	}
	var got spec.Account
	s.decode(s.send("GET", "/api/v1/accounts/"+a.ID.String(), nil), 200, &got)
	if got.EndsAt == nil || len(got.Warnings) != 1 || got.Warnings[0].Code != "expiring" {
		t.Errorf("%+v", got)
	}
}

// A connection started in a browser session can be completed only in that session: not
// without one, not in another one, and not by someone who obtains the state.
func TestConnect_RequiresTheSessionThatStartedIt(t *testing.T) {
	t.Parallel()
	s := start(t)
	_, err := s.Fake.AddAccount("desk")
	s.Must(err)
	mine, theirs := s.browser(), s.browser()
	begin := func(by []string) string {
		t.Helper()
		var begun struct {
			AuthorizeURL string `json:"authorize_url"`
		}
		s.decode(s.send("POST", "/api/v1/accounts/connect", object{"network": "mastodon", "sandbox": true}, by...), 200,
			&begun)
		return "/api/v1/oauth/callback?" + newsroomtest.Consent(t, begun.AuthorizeURL).Encode()
	}
	for name, by := range map[string][]string{"nobody": {"Authorization", ""}, "another session": theirs} {
		callback := begin(mine)
		s.refused(s.send("GET", callback, nil, by...), 422, "invalid_request", "state")
		if s.Count("select count(*) from accounts") != 0 {
			t.Errorf("%s completed the connection", name)
		}
		// A state is valid for one callback
		s.refused(s.send("GET", callback, nil, mine...), 422, "invalid_request", "state")
	}
	if a := s.send("GET", begin(mine), nil,
		append([]string{"Sec-Fetch-Site", "cross-site"}, mine...)...); a.StatusCode != http.StatusOK {
		t.Errorf("the session that started it: %s %s", a.Status, a.body)
	}
	// A connection started with a token can be completed in any browser: only the state
	// identifies it.
	if a := s.send("GET", begin(nil), nil, theirs...); a.StatusCode != http.StatusOK {
		t.Errorf("started with a token: %s %s", a.Status, a.body)
	}
}
