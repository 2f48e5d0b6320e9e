package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/webpage"
	"dateline/internal/publishing/account"

	"dateline/web"
)

// callbackRoute is the OAuth callback.
const callbackRoute = "/api/v1/oauth/callback"

// chooseRoute receives the form of a choice.
const chooseRoute = "/api/v1/oauth/choose"

// landingKey marks requests of browsers that return from a network: they get a page,
// also for errors. lookKey contains the preferred language and theme.
const (
	landingKey = "landing"
	lookKey    = "look"
)

// landings marks requests of browsers that return from a network. Other clients that
// follow the redirect get problem documents.
func (s *Server) landings() gin.HandlerFunc {
	return func(c *gin.Context) {
		route := c.FullPath()
		if route == reviewRoute {
			c.Set(lookKey, webpage.PreferencesOf(c.Request))
		}
		if route == callbackRoute || route == chooseRoute {
			c.Set(lookKey, webpage.PreferencesOf(c.Request))
			if strings.Contains(c.GetHeader("Accept"), "text/html") {
				c.Set(landingKey, s)
			}
		}
	}
}

func lookOf(ctx context.Context) webpage.Preferences {
	look, _ := ctx.Value(lookKey).(webpage.Preferences)
	return look
}

// connectedInDashboard returns the dashboard's URL for the result of a connection; empty
// if the browser is not logged in to the workspace.
func (s *AccountHandler) connectedInDashboard(ctx context.Context, made account.Connection) string {
	if made.Choice == nil {
		return s.dashboardAddress(ctx, made.Account)
	}
	who := ownSession(ctx).Principal()
	if _, err := s.Accounts.Choice(ctx, who, made.Choice.ID); err != nil || !s.landsInDashboard(ctx) {
		return ""
	}
	return accountsPage + "?choice=" + made.Choice.ID.String()
}

// dashboardAddress returns the dashboard's URL for connected accounts.
func (s *AccountHandler) dashboardAddress(ctx context.Context, made ...account.Account) string {
	ids := make([]string, len(made))
	for i, a := range made {
		if a.WorkspaceID != ownSession(ctx).WorkspaceID {
			return ""
		}
		ids[i] = a.ID.String()
	}
	if !s.landsInDashboard(ctx) {
		return ""
	}
	return accountsPage + "?connected=" + strings.Join(ids, ",")
}

// landsInDashboard reports whether the browser's session may connect accounts in the
// dashboard.
func (s *AccountHandler) landsInDashboard(ctx context.Context) bool {
	_, landing := ctx.Value(landingKey).(*Server)
	return landing && s.Dashboard && ownSession(ctx).Role.AtLeast(workspace.Editor)
}

// accountsPage is relative to the callback and to the form of a choice (RFC 9110,
// 10.2.2), because the public URL may have a path.
const accountsPage = "../../../app/accounts"

// connected is the page for browsers without a session in the dashboard.
func connected(look webpage.Preferences, dashboard bool, made ...account.Account) web.Connection {
	handles := make([]string, len(made))
	for i, a := range made {
		handles[i] = a.Handle
	}
	text := webpage.Text{
		EN: "%s is connected. You can close this page.",
		VI: "Đã kết nối %s. Bạn có thể đóng trang này.",
	}
	if len(made) > 1 {
		text.EN = "%s are connected. You can close this page."
	}
	return web.Connection{
		Look: look, Title: look.Translate(webpage.Text{EN: "Connected", VI: "Đã kết nối"}),
		Message: look.Translate(text, strings.Join(handles, ", ")), Dashboard: dashboard,
	}
}

func notConnected() webpage.Text { return webpage.Text{EN: "Not connected", VI: "Chưa kết nối"} }

func choicePage(look webpage.Preferences, c account.Choice, problem string) web.Connection {
	p := web.Connection{
		Look: look, Title: look.Translate(webpage.Text{EN: "Choose accounts", VI: "Chọn tài khoản"}),
		Problem: problem, Choice: c.ID.String(), Key: c.Key,
		Message: look.Translate(webpage.Text{
			EN: "This login may post as several accounts. Choose those that " +
				"Dateline is to publish to.",
			VI: "Tài khoản đăng nhập này quản lý nhiều tài khoản. Hãy chọn những tài khoản mà Dateline sẽ đăng " +
				"bài lên.",
		}),
	}
	for _, one := range c.Accounts {
		kind := kindOf(string(one.Kind))
		p.Accounts = append(p.Accounts, web.Candidate{
			ID: one.RemoteID, Handle: one.Handle, Name: one.Name, Kind: look.Translate(kindText(kind)),
		})
	}
	return p
}

func kindText(kind string) webpage.Text {
	vi := map[string]string{"person": "cá nhân", "page": "trang", "organization": "tổ chức", "channel": "kênh"}[kind]
	if vi == "" {
		vi = kind
	}
	return webpage.Text{EN: kind, VI: vi}
}

// refusedText returns why no account was connected, in Vietnamese if there is a
// translation; messages of the API are English.
func refusedText(look webpage.Preferences, reason, sentence string) string {
	vi := map[string]string{
		"not_allowed": "Mạng xã hội chưa cấp quyền truy cập. Hãy kết nối lại và bấm cho phép.",
		"unknown":     "Lần kết nối này không bắt đầu từ đây hoặc đã quá 10 phút. Hãy kết nối lại.",
		"other_session": "Lần kết nối này bắt đầu từ trình duyệt khác hoặc trước khi bạn đăng nhập. Hãy kết " +
			"nối lại tại đây.",
		"other_identity": "Quyền truy cập được cấp cho một tài khoản khác nên không có gì thay đổi. Hãy đăng " +
			"nhập đúng tài khoản trên mạng xã hội rồi thử lại.",
		"nobody":              "Quyền truy cập này không đăng bài được với tài khoản nào.",
		"network_unreachable": "Mạng xã hội không phản hồi. Hãy thử lại sau ít phút.",
		"network_refused":     "Mạng xã hội đã từ chối kết nối. Hãy thử lại.",
		"not_configured":      "Mạng xã hội này chưa được thiết lập ở đây.",
		"required":            "Hãy chọn ít nhất một tài khoản.",
		"choice_not_found": "Lựa chọn này không còn: bạn đã chọn rồi hoặc đã quá 15 phút. Hãy kết nối lại " +
			"tài khoản.",
	}[reason]
	if vi == "" {
		vi = sentence
	}
	return look.Translate(webpage.Text{EN: sentence, VI: vi})
}

// land redirects a browser that returns from a network without an account to the
// accounts page, which shows the reason in the user's language. The URL contains a code
// and no text, because anybody can craft a URL. Without a dashboard, land shows the text
// on a page. It returns false for all other requests.
func land(c *gin.Context, status int, code, detail string, problems []apperr.FieldError) bool {
	s, ok := c.Value(landingKey).(*Server)
	if !ok {
		return false
	}
	c.Abort()
	reason, sentence := code, detail
	if len(problems) > 0 {
		reason, sentence = problems[0].Code, problems[0].Message
		if code != "invalid_request" {
			reason = code
		}
	}
	if s.Dashboard {
		c.Header("Location", accountsPage+"?refused="+known(reason))
		c.Status(http.StatusSeeOther)
		c.Writer.WriteHeaderNow()
		return true
	}
	look := lookOf(c)
	page, err := web.Connection{
		Look: look, Title: look.Translate(notConnected()),
		Message: refusedText(look, reason, sentence),
	}.HTML()
	if err != nil {
		c.Status(http.StatusInternalServerError)
		return true
	}
	c.Data(status, "text/html; charset=utf-8", []byte(page))
	return true
}

// known reports whether the dashboard has a text for a reason.
func known(reason string) string {
	switch reason {
	case "not_allowed", "unknown", "other_session", "other_identity", "nobody", "network_unreachable",
		"network_refused", "not_configured":
		return reason
	}
	return "failed"
}
