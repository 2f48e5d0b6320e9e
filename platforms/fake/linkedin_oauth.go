package fake

import (
	"crypto/rand"
	"net/http"
	"strings"
	"time"
)

// linkedinTokenTTL is the lifetime of access tokens.
const linkedinTokenTTL = 60 * 24 * time.Hour

// linkedinRefreshTTL is the lifetime of refresh tokens, from the first one on.
const linkedinRefreshTTL = 365 * 24 * time.Hour

// linkedinToken exchanges a code. Only approved apps get refresh tokens: they are
// issued if Options.TokenTTL is set, and stay the same when they are used.
// https://learn.microsoft.com/en-us/linkedin/shared/authentication/authorization-code-flow
func (s linkedinFake) linkedinToken(w http.ResponseWriter, r *http.Request) {
	refuse := func(status int, code, text string) { writeJSON(w, status, oauthErrorBody{code, text}) }
	form, err := readForm(w, r)
	if err != nil {
		refuse(http.StatusBadRequest, "invalid_request", "A required parameter is missing")
		return
	}
	if !sandboxClient(form.Get("client_id"), form.Get("client_secret")) {
		refuse(http.StatusUnauthorized, "invalid_client", "Client authentication failed")
		return
	}
	ttl, family := linkedinTokenTTL, ""
	if s.options.TokenTTL > 0 {
		ttl, family = s.options.TokenTTL, rand.Text()
	}
	var t token
	var refreshToken string
	switch form.Get("grant_type") {
	case "authorization_code":
		s.mu.Lock()
		g, ok := s.takeCode(form.Get("code"), form.Get("client_id"), form.Get("redirect_uri"),
			form.Get("code_verifier"))
		s.mu.Unlock()
		if !ok {
			refuse(http.StatusBadRequest, "invalid_request",
				"Unable to retrieve access token: appid/redirect uri/code verifier does not match authorization "+
					"code. Or authorization code expired.")
			return
		}
		t, err = s.issue(token{AccountID: g.accountID, Scopes: g.scopes, App: "Dateline"}, ttl, family)
		if t.Refresh != nil {
			refreshToken = t.Refresh.Value
		}
	case "refresh_token":
		s.mu.Lock()
		old := s.state.refreshes[form.Get("refresh_token")]
		s.mu.Unlock()
		if old == nil {
			refuse(http.StatusBadRequest, "invalid_request",
				"The provided authorization grant or refresh token is invalid, expired or revoked.")
			return
		}
		refreshToken = old.Refresh.Value
		t, err = s.issue(token{AccountID: old.AccountID, Scopes: old.Scopes, App: old.App}, ttl, "")
	default:
		refuse(http.StatusBadRequest, "unsupported_grant_type", "The grant type is not supported")
		return
	}
	if err != nil {
		refuse(http.StatusInternalServerError, "server_error", err.Error())
		return
	}
	body := map[string]any{
		"access_token": t.Value, "expires_in": int(ttl / time.Second),
		"scope": strings.Join(t.Scopes, ","), "token_type": "Bearer",
	}
	if refreshToken != "" {
		body["refresh_token"], body["refresh_token_expires_in"] = refreshToken, int(linkedinRefreshTTL/time.Second)
	}
	writeJSON(w, http.StatusOK, body)
}

func (s linkedinFake) linkedinPerson(w http.ResponseWriter, r *http.Request, c caller) {
	if !c.allowed("openid") || !c.allowed("profile") {
		refuseLinkedIn(w, http.StatusForbidden, "ACCESS_DENIED",
			"Not enough permissions to access: userinfo.GET.NO_VERSION")
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"sub": c.account.ID, "name": displayName(c.account), "given_name": displayName(c.account), "family_name": "",
		"picture": avatarOf(r, c.account),
		"locale":  map[string]string{"country": "US", "language": "en"},
	})
}

func displayName(a Account) string { return strings.ToUpper(a.Name[:1]) + a.Name[1:] }

// linkedinRoles lists the organizations in which the member has a role.
func (s linkedinFake) linkedinRoles(w http.ResponseWriter, r *http.Request, c caller) {
	if !c.allowed("rw_organization_admin") {
		refuseLinkedIn(w, http.StatusForbidden, "ACCESS_DENIED",
			"Not enough permissions to access: organizationAcls.FINDER-roleAssignee.20260701")
		return
	}
	if r.URL.Query().Get("q") != "roleAssignee" {
		refuseLinkedIn(w, http.StatusBadRequest, "ILLEGAL_ARGUMENT", "Invalid query parameters passed to request")
		return
	}
	s.mu.Lock()
	organizations := s.owned(c.account.ID)
	s.mu.Unlock()
	elements := []map[string]any{}
	for _, o := range organizations {
		elements = append(elements, map[string]any{
			"role": "ADMINISTRATOR", "state": "APPROVED", "organization": linkedinURNOf(o),
			"roleAssignee": linkedinURNOf(c.account),
		})
	}
	linkedinList(w, 0, len(elements), elements)
}

// linkedinOrganizations returns the names for ids=List(1,2).
func (s linkedinFake) linkedinOrganizations(w http.ResponseWriter, r *http.Request, c caller) {
	list, ok := strings.CutPrefix(r.URL.Query().Get("ids"), "List(")
	if !ok || !strings.HasSuffix(list, ")") || r.Header.Get("X-Restli-Method") != "BATCH_GET" {
		refuseLinkedIn(w, http.StatusBadRequest, "ILLEGAL_ARGUMENT", "Invalid query parameters passed to request")
		return
	}
	results := map[string]any{}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range strings.SplitSeq(strings.TrimSuffix(list, ")"), ",") {
		if o := s.state.accounts[id]; o != nil && o.OwnerID == c.account.ID {
			results[id] = map[string]any{
				"id": id, "localizedName": displayName(*o), "vanityName": strings.ToLower(o.Name),
			}
		}
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"results": results, "statuses": map[string]any{}, "errors": map[string]any{},
	})
}

func linkedinList(w http.ResponseWriter, start, count int, elements []map[string]any) {
	writeJSON(w, http.StatusOK, map[string]any{
		"paging": map[string]any{"start": start, "count": count, "links": []any{}}, "elements": elements,
	})
}
