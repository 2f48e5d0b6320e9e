package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/identity/login"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/optional"
)

// SessionHandler serves the sessions of browsers.
type SessionHandler struct {
	Login  *login.Service
	Events Live
}

const sessionKey = "session"

// loginRoutes are the pages for logging in and out. They are not part of openapi.yaml,
// because they are for browsers.
func (s *Server) loginRoutes(r *gin.Engine) {
	page := func(serve http.HandlerFunc) gin.HandlerFunc {
		return func(c *gin.Context) {
			c.Request.SetPathValue("token", c.Param("token"))
			serve(c.Writer, c.Request)
		}
	}
	r.GET("/login", page(s.Login.ServeLogin))
	r.GET("/login/oidc", s.limitLogins, page(s.Login.ServeOIDC))
	r.GET("/login/callback", s.limitLogins, page(s.Login.ServeCallback))
	r.GET("/login/once/:token", page(s.Login.ServeLink))
	r.POST("/login/once/:token", s.limitLogins, page(s.Login.ServeLink))
	r.GET("/login/invitation/:token", page(s.Login.ServeInvitation))
	r.POST("/login/invitation/:token", s.limitLogins, page(s.Login.ServeInvitation))
	r.POST("/logout", s.logOut)
}

func (s *Server) limitLogins(c *gin.Context) {
	if !s.Login.Allow(clientIP(c)) {
		s.Login.TooMany(c.Writer, c.Request)
		c.Abort()
	}
}

// showPage serves the dashboard to users who are logged in, and redirects others to the
// login page, so that no page has to make a request that fails.
func (s *Server) showPage(c *gin.Context) {
	if s.Dashboard && strings.HasPrefix(c.Request.URL.Path, "/app") {
		if _, found, err := s.Login.Session(c.Request); err == nil && !found {
			s.Login.ToLogin(c.Writer, c.Request)
			return
		}
	}
	s.Page.ServeHTTP(c.Writer, c.Request)
}

// bySession returns the principal of a browser's session. Browsers also send cookies with
// requests from pages of other sites, so the origin is checked first.
func (s *Server) bySession(c *gin.Context) (workspace.Principal, bool) {
	if s.Login.CheckOrigin(c.Request) != nil {
		writeProblem(c, http.StatusForbidden, "cross_origin",
			"A browser sent this for a page of another site, so it was not carried out.", nil)
		return workspace.Principal{}, false
	}
	session, found, err := s.Login.Session(c.Request)
	if err != nil {
		refuse(c, s.Log, err)
		return workspace.Principal{}, false
	}
	if !found {
		c.Header("WWW-Authenticate", `Bearer realm="dateline"`)
		ended := sessionEnded()
		writeProblem(c, ended.status, ended.code, ended.detail, nil)
		return workspace.Principal{}, false
	}
	c.Set(sessionKey, session)
	return session.Principal(), true
}

func sessionEnded() *refusal {
	return &refusal{http.StatusUnauthorized, "session_ended", "You are no longer logged in. Log in again at /login."}
}

// sessionAgain repeats bySession for an accepted request. It does not count as use of the
// session: an open page alone does not extend it.
func (s *Server) sessionAgain(r *http.Request) (workspace.Principal, *refusal, error) {
	session, found, err := s.Login.Peek(r)
	if err != nil || found {
		return session.Principal(), nil, err
	}
	return workspace.Principal{}, sessionEnded(), nil
}

// logOut ends a session and its streams.
func (s *Server) logOut(c *gin.Context) {
	session, found, err := s.Login.Peek(c.Request)
	s.Login.ServeLogout(c.Writer, c.Request)
	if err == nil && found {
		s.SessionHandler.Events.AccessChanged(session.ID)
	}
}

// noteSession stores the session for operations that do not require one. Networks
// redirect browsers to them, so these requests come from other sites.
func (s *Server) noteSession(c *gin.Context) {
	session, found, err := s.Login.Session(c.Request)
	if err != nil {
		refuse(c, s.Log, err)
		return
	}
	if found {
		c.Set(sessionKey, session)
	}
}

// sessionID returns the session of a request; Nil: none.
func sessionID(ctx context.Context) uuid.UUID {
	session, _ := ctx.Value(sessionKey).(login.Session)
	return session.ID
}

// refuseToken responds to requests about a session that have none.
func (s *Server) refuseToken(c *gin.Context, load *load) (workspace.Principal, bool) {
	if c.GetHeader("Authorization") == "" {
		c.Header("WWW-Authenticate", `Bearer realm="dateline"`)
		writeProblem(c, http.StatusUnauthorized, "session_required", "Log in at /login.", nil)
		return workspace.Principal{}, false
	}
	who, ok := s.bearer(c, load)
	if ok {
		writeProblem(c, http.StatusForbidden, "session_required",
			"This is for browsers that are logged in; an API token has no session.", nil)
	}
	return who, false
}

// ownSession returns the session of a request, which authenticate has stored.
func ownSession(ctx context.Context) login.Session {
	session, _ := ctx.Value(sessionKey).(login.Session)
	return session
}

// GetSession returns the current session.
func (s *SessionHandler) GetSession(
	ctx context.Context, _ spec.GetSessionRequestObject,
) (spec.GetSessionResponseObject, error) {
	out, err := s.sessionJSON(ctx, ownSession(ctx))
	return spec.GetSession200JSONResponse{OwnSessionJSONResponse: out}, err
}

// SwitchWorkspace changes the workspace of a session.
func (s *SessionHandler) SwitchWorkspace(
	ctx context.Context, r spec.SwitchWorkspaceRequestObject,
) (spec.SwitchWorkspaceResponseObject, error) {
	session := ownSession(ctx)
	if err := s.Login.Switch(ctx, session, r.Body.WorkspaceId); err != nil {
		return nil, err
	}
	s.Events.AccessChanged(session.ID)
	session.WorkspaceID = r.Body.WorkspaceId
	out, err := s.sessionJSON(ctx, session)
	return spec.SwitchWorkspace200JSONResponse{OwnSessionJSONResponse: out}, err
}

// ListSessions lists the sessions of the user.
func (s *SessionHandler) ListSessions(
	ctx context.Context, _ spec.ListSessionsRequestObject,
) (spec.ListSessionsResponseObject, error) {
	own := ownSession(ctx)
	sessions, err := s.Login.Sessions(ctx, own.UserID)
	out := spec.ListSessions200JSONResponse{Sessions: []spec.BrowserSession{}}
	for _, one := range sessions {
		out.Sessions = append(out.Sessions, spec.BrowserSession{
			Id: one.ID, Current: one.ID == own.ID,
			CreatedAt:  one.CreatedAt,
			LastUsedAt: one.LastUsedAt, UserAgent: one.UserAgent,
		})
	}
	return out, err
}

// RevokeSession ends a session.
func (s *SessionHandler) RevokeSession(
	ctx context.Context, r spec.RevokeSessionRequestObject,
) (spec.RevokeSessionResponseObject, error) {
	return spec.RevokeSession204Response{}, closing(s.Events, r.Id, s.Login.End(ctx, ownSession(ctx).UserID, r.Id))
}

// RevokeSessions ends all sessions of the user.
func (s *SessionHandler) RevokeSessions(
	ctx context.Context, _ spec.RevokeSessionsRequestObject,
) (spec.RevokeSessionsResponseObject, error) {
	return spec.RevokeSessions204Response{},
		closing(s.Events, ownSession(ctx).UserID, s.Login.EndAll(ctx, ownSession(ctx).UserID))
}

// CreateLoginLink creates a login link of a member.
func (s *SessionHandler) CreateLoginLink(
	ctx context.Context, r spec.CreateLoginLinkRequestObject,
) (spec.CreateLoginLinkResponseObject, error) {
	link, err := s.Login.NewMemberLink(ctx, principal(ctx), r.Id)
	if err != nil {
		return nil, err
	}
	return spec.CreateLoginLink201JSONResponse{Url: link.URL.Reveal(), ExpiresAt: link.ExpiresAt}, nil
}

// RevokeLoginLink invalidates the login link of a member.
func (s *SessionHandler) RevokeLoginLink(
	ctx context.Context, r spec.RevokeLoginLinkRequestObject,
) (spec.RevokeLoginLinkResponseObject, error) {
	return spec.RevokeLoginLink204Response{}, s.Login.RevokeMemberLink(ctx, principal(ctx), r.Id)
}

// closing makes streams check the access of their clients at once after a successful
// change.
func closing(events Live, id uuid.UUID, err error) error {
	if err == nil {
		events.AccessChanged(id)
	}
	return err
}

func (s *SessionHandler) sessionJSON(ctx context.Context, session login.Session) (spec.OwnSessionJSONResponse, error) {
	user, memberships, err := s.Login.Account(ctx, session)
	if err != nil {
		return spec.OwnSessionJSONResponse{}, err
	}
	out := spec.OwnSessionJSONResponse{
		Id: session.ID, CreatedAt: session.CreatedAt,
		ExpiresAt:  session.CreatedAt.Add(login.AbsoluteLimit),
		Workspaces: []spec.MemberWorkspace{},
	}
	out.User.Id, out.User.Name, out.User.Email = user.ID, user.Name, optional.Of(user.Email)
	for _, m := range memberships {
		one := spec.MemberWorkspace{Id: m.WorkspaceID, Name: m.WorkspaceName, Role: string(m.Role)}
		out.Workspaces = append(out.Workspaces, one)
		if m.WorkspaceID == session.WorkspaceID {
			out.Workspace = one
		}
	}
	return out, nil
}
