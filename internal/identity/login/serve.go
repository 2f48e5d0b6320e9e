package login

import (
	"net/http"
	"strings"
)

// callbackPath is where the provider sends people back to.
const callbackPath = "/login/callback"

func (s *Service) redirectURI() string {
	return strings.TrimSuffix(s.base.String(), "/") + callbackPath
}

// to sends a browser to one of our pages.
func (s *Service) to(w http.ResponseWriter, r *http.Request, path string) {
	http.Redirect(w, r, s.prefix()+path, http.StatusSeeOther)
}

// prefix is the path that a proxy publishes us under; empty for most.
func (s *Service) prefix() string { return strings.TrimSuffix(s.base.EscapedPath(), "/") }

// ServeLogin is GET /login: it shows the ways to log in, or to log out.
func (s *Service) ServeLogin(w http.ResponseWriter, r *http.Request) {
	if !s.Possible() {
		s.impossible(w, r)
		return
	}
	session, ok, err := s.Session(r)
	if err != nil {
		s.unavailable(w, r, "login page", err)
		return
	}
	if ok {
		s.loggedIn(w, r, session)
		return
	}
	s.show(w, r, http.StatusOK, func(say translator, t texts) view {
		v := view{Title: say(t.login), Local: say(t.machine)}
		if s.provider != nil {
			v.Provider = say(t.loginAt, s.provider.Label)
		} else {
			v.Texts = []string{say(t.linkOnly)}
		}
		return v
	})
}

func (s *Service) loggedIn(w http.ResponseWriter, r *http.Request, session Session) {
	user, memberships, err := s.Account(r.Context(), session)
	if err != nil {
		s.unavailable(w, r, "login page", err)
		return
	}
	s.show(w, r, http.StatusOK, func(say translator, t texts) view {
		v := view{
			Title: say(t.loggedIn), Continue: say(t.proceed), Logout: say(t.logout),
			Everywhere: say(t.logoutEverywhere),
		}
		for _, m := range memberships {
			if m.WorkspaceID == session.WorkspaceID {
				v.Texts = []string{say(t.loggedInAs, user.Name, m.WorkspaceName)}
			}
		}
		return v
	})
}

// ServeOIDC is GET /login/oidc: it redirects to the provider.
func (s *Service) ServeOIDC(w http.ResponseWriter, r *http.Request) {
	headers(w)
	switch {
	case !s.Possible():
		s.impossible(w, r)
		return
	case s.provider == nil:
		s.to(w, r, "/login")
		return
	}
	a := attempt{newSecret()}
	there, err := s.provider.begin(r.Context(), a, s.now(), s.redirectURI())
	if err != nil {
		s.unavailable(w, r, "provider", err)
		return
	}
	s.cookies.setAttempt(w, a.secret)
	http.Redirect(w, r, there, http.StatusSeeOther)
}

// ServeCallback is GET /login/callback: the provider's response. It is a cross-site
// request, so the attempt's cookie proves that this browser started the login: a
// response to another browser's attempt logs nobody in.
func (s *Service) ServeCallback(w http.ResponseWriter, r *http.Request) {
	headers(w)
	q := r.URL.Query()
	a := attempt{s.cookies.attempt(r)}
	if s.provider == nil || !s.Possible() || !a.answers(q.Get("state"), s.now()) {
		s.startAgain(w, r)
		return
	}
	s.cookies.clearAttempt(w)
	first, err := s.store.UseLoginAnswer(r.Context(), a.used(), s.now(), s.now().Add(-2*attemptTimeout))
	switch {
	case err != nil:
		s.unavailable(w, r, "callback", err)
		return
	case !first:
		s.startAgain(w, r)
		return
	case q.Get("error") != "" || q.Get("code") == "":
		s.log.WarnContext(r.Context(), "the OpenID provider rejected a login", "error", errorCode(q.Get("error")))
		s.refused(w, r)
		return
	}
	person, err := s.provider.finish(r.Context(), a, q.Get("iss"), q.Get("code"), s.redirectURI())
	if err != nil {
		s.log.WarnContext(r.Context(), "a login with the OpenID provider failed", "error", brief(err))
		s.refused(w, r)
		return
	}
	user, why, err := s.store.Admit(r.Context(), person, s.join.role(person))
	if err == nil && why == "" {
		var member bool
		if member, err = s.start(w, r, user, nil, "provider"); !member {
			why = NoWorkspace
		}
	}
	switch {
	case err != nil:
		s.unavailable(w, r, "callback", err)
	case why != "":
		s.noMember(w, r, why)
	default:
		s.to(w, r, "/")
	}
}

// ServeLink is /login/once/{token}. GET shows a button for any token, because mail
// scanners and link previews open links too; POST uses the link.
func (s *Service) ServeLink(w http.ResponseWriter, r *http.Request) {
	s.serveLink(w, r, func(say translator, t texts) view {
		return view{Title: say(t.login), Once: say(t.loginOnce), Texts: []string{say(t.oneUse)}}
	})
}

// ServeInvitation is /login/invitation/{token}: the link of a member who has not logged in
// yet, and whose name nobody knows.
func (s *Service) ServeInvitation(w http.ResponseWriter, r *http.Request) {
	s.serveLink(w, r, func(say translator, t texts) view {
		return view{Title: say(t.invited), Once: say(t.join), Name: say(t.yourName), Texts: []string{say(t.invitedWhy)}}
	})
}

func (s *Service) serveLink(w http.ResponseWriter, r *http.Request, form func(translator, texts) view) {
	headers(w)
	switch {
	case !s.Possible():
		s.impossible(w, r)
		return
	case r.Method != http.MethodPost:
		s.show(w, r, http.StatusOK, form)
		return
	case s.CheckOrigin(r) != nil: // otherwise an attacker could log a user in as the attacker
		s.foreign(w, r)
		return
	}
	user, only, ok, err := s.useLink(r.Context(), hash(r.PathValue("token")))
	switch {
	case err != nil:
		s.unavailable(w, r, "link", err)
		return
	case !ok:
		s.usedLink(w, r)
		return
	}
	if name := plainName(r.PostFormValue("name")); name != "" && only != nil {
		if err := s.store.NameUser(r.Context(), user, name); err != nil {
			s.unavailable(w, r, "link", err)
			return
		}
	}
	ok, err = s.start(w, r, user, only, "link")
	switch {
	case err != nil:
		s.unavailable(w, r, "link", err)
	case !ok:
		s.noMember(w, r, NoWorkspace)
	default:
		s.to(w, r, "/")
	}
}

// ServeLogout is POST /logout: ends this session, or with the form field
// everywhere=true all of its user's.
func (s *Service) ServeLogout(w http.ResponseWriter, r *http.Request) {
	headers(w)
	if s.CheckOrigin(r) != nil {
		s.foreign(w, r)
		return
	}
	session, ok, err := s.Session(r)
	switch {
	case err != nil:
	case ok && r.PostFormValue("everywhere") == "true":
		err = s.EndAll(r.Context(), session.UserID)
	case ok:
		_, err = s.store.EndSession(r.Context(), session.UserID, session.ID)
	}
	if err != nil {
		s.unavailable(w, r, "logout", err)
		return
	}
	s.cookies.clearSession(w)
	if ok {
		s.log.InfoContext(r.Context(), "user logged out", "user_id", session.UserID, "session_id", session.ID)
	}
	s.to(w, r, "/login")
}
