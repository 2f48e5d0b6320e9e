package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"dateline/internal/identity/audit"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/message"
	"dateline/internal/infra/throttle"
	"dateline/internal/infra/webpage"
	"dateline/internal/notify/notification"
	"dateline/internal/publishing/post"
)

// NotificationPages serves the pages behind the links of notifications.
type NotificationPages struct {
	NotificationStore NotificationStore
	NotificationLinks notification.Links
	Messages          webpage.Catalogs // of the program in other languages; nil: English only
	Scheduler         DeadLetterHandling
	PostChanges
}

// The pages behind links of notifications, which are not part of openapi.yaml.
const (
	decisionRoute           = notification.DecisionPath + ":token"
	confirmChannelRoute     = notification.ConfirmPath + ":token"
	unsubscribeChannelRoute = notification.UnsubscribePath + ":token"
)

// NotificationStore finds what the links of notifications allow.
type NotificationStore interface {
	NotificationDecision(ctx context.Context, item int64) (notification.Decision, error)
	UseNotificationLink(ctx context.Context, item int64) (bool, error)
	Channel(ctx context.Context, id uuid.UUID) (notification.Channel, error)
	ConfirmChannel(ctx context.Context, id uuid.UUID, recipient string) error
	UnsubscribeChannel(ctx context.Context, id uuid.UUID) error
}

// notificationRoutes adds the pages behind links. GET requests change nothing, because
// mail filters and chats open links.
func (s *NotificationPages) notificationRoutes(r *gin.Engine) {
	requests := throttle.New(30, time.Second) // by address
	limited := func(serve gin.HandlerFunc) gin.HandlerFunc {
		return func(c *gin.Context) {
			if _, ok := requests.Allow(throttle.ClientKey(clientIP(c)), time.Now()); !ok {
				c.Header("Retry-After", "1")
				c.String(http.StatusTooManyRequests, http.StatusText(http.StatusTooManyRequests))
				return
			}
			c.Header("Cache-Control", "no-store")
			serve(c)
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		r.Handle(method, decisionRoute, limited(s.decide))
		r.Handle(method, confirmChannelRoute, limited(s.confirmChannel))
		r.Handle(method, unsubscribeChannelRoute, limited(s.unsubscribeChannel))
	}
}

const decisionHTML = `{{if .Problem}}<p class="error" role="alert">{{.Problem}}</p>{{end}}
{{if .Post}}<blockquote class="preview"><p class="copy">{{.Post}}</p></blockquote>{{end}}
{{if .Published}}<form method="post" action="?choice=published"><label class="label" for="url">{{.URLLabel}}</label><input class="text" id="url" type="url" name="url" required maxlength="2000" placeholder="https://"><button>{{.PublishedLabel}}</button></form>{{end}}
{{if .Absent}}<form method="post" action="?choice=absent"><button>{{.AbsentLabel}}</button></form>{{end}}`

// decide asks for, and with a POST request records, whether an uncertain post is
// published.
func (s *NotificationPages) decide(c *gin.Context) {
	ctx, look := c.Request.Context(), webpage.PreferencesOf(c.Request)
	item, err := s.NotificationLinks.Item(c.Param("token"))
	var d notification.Decision
	if err == nil {
		d, err = s.NotificationStore.NotificationDecision(ctx, item)
	}
	if err != nil {
		s.linkFailed(c, look, err)
		return
	}
	choice, problem := c.Query("choice"), ""
	if c.Request.Method == http.MethodPost && d.State == notification.LinkOpen && d.MayDecide {
		err := s.decided(ctx, d, choice, c)
		var refused *apperr.Error
		switch {
		case errors.As(err, &refused) && refused.Kind == apperr.KindInvalid:
			problem = look.Translate(webpage.Text{
				EN: "Enter the address of the published post, such as https://network.example/@desk/1234.",
				VI: "Hãy nhập địa chỉ bài đã đăng, ví dụ https://network.example/@desk/1234.",
			})
		case errors.As(err, &refused):
			d.State = notification.LinkDecided
		case err != nil:
			s.linkFailed(c, look, err)
			return
		default:
			text := webpage.Text{EN: "It is recorded as published.", VI: "Đã ghi nhận bài được đăng."}
			if choice == "absent" {
				text = webpage.Text{EN: "It is being published again.", VI: "Bài đang được đăng lại."}
			}
			s.showNotice(c, look, http.StatusOK, webpage.Page{
				Title: look.Translate(webpage.Text{EN: "Decided", VI: "Đã quyết định"}), Texts: []string{
					look.Translate(text),
				},
			})
			return
		}
	}
	page := webpage.Page{Title: look.Translate(webpage.Text{EN: "Is it published?", VI: "Bài đã được đăng chưa?"})}
	status := http.StatusOK
	switch {
	case d.State != notification.LinkOpen:
		page.Texts, status = []string{look.Translate(closedTexts()[d.State])}, http.StatusGone
	case !d.MayDecide:
		page.Texts, status = []string{look.Translate(webpage.Text{
			EN: "Your role does not allow you to decide this.",
			VI: "Vai trò của bạn không được quyết định việc này.",
		})}, http.StatusForbidden
	default:
		page.Texts = s.decisionTexts(look, d)
		page.Body, err = look.Body(decisionHTML,
			map[string]any{
				"Problem": problem, "Post": d.Content, "Published": choice != "absent",
				"Absent":         choice != "published",
				"URLLabel":       look.Translate(webpage.Text{EN: "Address of the post", VI: "Địa chỉ bài viết"}),
				"PublishedLabel": look.Translate(webpage.Text{EN: "It is published", VI: "Bài đã được đăng"}),
				"AbsentLabel": look.Translate(webpage.Text{
					EN: "It is not published: publish it again", VI: "Bài chưa được đăng: đăng lại",
				}),
			})
		if err != nil {
			s.linkFailed(c, look, err)
			return
		}
		if problem != "" {
			status = http.StatusUnprocessableEntity
		}
	}
	s.showNotice(c, look, status, page)
}

func closedTexts() map[notification.LinkState]webpage.Text {
	return map[notification.LinkState]webpage.Text{
		notification.LinkUsed:    {EN: "This link was used before.", VI: "Liên kết này đã được dùng."},
		notification.LinkDecided: {EN: "This was decided before.", VI: "Việc này đã được quyết định."},
		notification.LinkExpired: {
			EN: "This link has expired. Decide in the dashboard.",
			VI: "Liên kết này đã hết hạn. Hãy quyết định trong trang quản lý.",
		},
	}
}

// decisionTexts says what was searched for and found.
func (s *NotificationPages) decisionTexts(look webpage.Preferences, d notification.Decision) []string {
	sent, evidence := d.Found()
	account := d.Handle + " (" + message.NetworkName(d.Network) + ")"
	texts := []string{
		look.Translate(webpage.Text{
			EN: "This post was sent to %s, but no response arrived.",
			VI: "Bài này đã được gửi lên %s nhưng không nhận được phản hồi.",
		}, account),
	}
	if sent != nil {
		texts = append(texts, look.Translate(webpage.Text{
			EN: "Searched for: its text on %s, sent at %s.",
			VI: "Đã tìm: nội dung bài trên %s, gửi lúc %s.",
		}, account,
			look.Time(sent.In(d.Zone))+sent.In(d.Zone).Format(" MST")))
	}
	if len(evidence) > 0 {
		texts = append(texts, look.Translate(webpage.Text{EN: "Found: %s", VI: "Kết quả: %s"},
			s.Messages[look.Language].Join(evidence, d.Zone, "note", "cause", "problem")))
	}
	return append(texts, look.Translate(webpage.Text{
		EN: "Look at the account, then decide. If you publish it again although it exists, it appears twice.",
		VI: "Hãy xem tài khoản rồi quyết định. Nếu đăng lại khi bài đã có, bài sẽ xuất hiện hai lần.",
	}))
}

// decided records a decision in the name of the recipient.
func (s *NotificationPages) decided(ctx context.Context, d notification.Decision, choice string, c *gin.Context) error {
	ctx = audit.ByUser(ctx, d.UserID)
	g := post.Guard{WorkspaceID: d.WorkspaceID, PostID: d.PostID, Actor: "user:" + d.UserID.String()}
	var p post.Post
	var err error
	switch choice {
	case "published":
		p, err = s.Scheduler.Confirm(ctx, g, d.TargetID, strings.TrimSpace(c.PostForm("url")), "")
	case "absent":
		p, err = s.Scheduler.Resend(ctx, g, d.TargetID)
	default:
		return apperr.InvalidFields(apperr.FieldError{
			Field: "choice", Code: "invalid", Message: "Must be published or absent.",
		})
	}
	if err != nil {
		return err
	}
	s.signal(ctx, p)
	// The decision itself closes the link, so a failure here has no effect.
	if _, err := s.NotificationStore.UseNotificationLink(context.WithoutCancel(ctx), d.Item); err != nil {
		s.Log.WarnContext(ctx, "a link was not marked as used", "error", err)
	}
	return nil
}

// confirmChannel asks for, and with a POST request records, the agreement of a recipient
// to get emails.
func (s *NotificationPages) confirmChannel(c *gin.Context) {
	ctx, look := c.Request.Context(), webpage.PreferencesOf(c.Request)
	id, recipient, err := s.NotificationLinks.Confirmed(c.Param("token"))
	var channel notification.Channel
	if err == nil {
		channel, err = s.NotificationStore.Channel(ctx, id)
	}
	if err == nil && channel.Hint != recipient {
		err = apperr.NotFound("link") // the channel has another address since
	}
	if err == nil && c.Request.Method == http.MethodPost {
		err = s.NotificationStore.ConfirmChannel(audit.ByUser(ctx, channel.UserID), id, recipient)
		channel.ConfirmedAt = new(time.Time)
	}
	if err != nil {
		s.linkFailed(c, look, err)
		return
	}
	page := webpage.Page{
		Title: look.Translate(webpage.Text{EN: "Confirmed", VI: "Đã xác nhận"}),
		Texts: []string{
			look.Translate(webpage.Text{
				EN: "%s gets notifications. Each has a link to unsubscribe.",
				VI: "%s sẽ nhận thông báo. Mỗi thông báo có liên kết để hủy.",
			}, recipient),
		},
	}
	if channel.IsUnconfirmed() {
		page.Title = look.Translate(webpage.Text{
			EN: "Confirm your email address", VI: "Xác nhận địa chỉ email của bạn",
		})
		page.Texts = []string{
			look.Translate(webpage.Text{
				EN: "Should %s get notifications of Dateline?",
				VI: "%s muốn nhận thông báo của Dateline?",
			}, recipient),
		}
		if page.Body, err = look.Body(buttonHTML, page.Title); err != nil {
			s.linkFailed(c, look, err)
			return
		}
	}
	s.showNotice(c, look, http.StatusOK, page)
}

const buttonHTML = `<form method="post"><button>{{.}}</button></form>`

// unsubscribeChannel asks for, and with a POST request does, the end of emails. Mail
// programs send the POST request themselves (RFC 8058, 3.2).
func (s *NotificationPages) unsubscribeChannel(c *gin.Context) {
	ctx, look := c.Request.Context(), webpage.PreferencesOf(c.Request)
	id, err := s.NotificationLinks.Channel(c.Param("token"))
	var channel notification.Channel
	if err == nil {
		channel, err = s.NotificationStore.Channel(ctx, id)
	}
	if err == nil && c.Request.Method == http.MethodPost {
		err = s.NotificationStore.UnsubscribeChannel(audit.ByUser(ctx, channel.UserID), id)
	}
	if err != nil {
		s.linkFailed(c, look, err)
		return
	}
	page := webpage.Page{
		Title: look.Translate(webpage.Text{EN: "Unsubscribed", VI: "Đã hủy nhận email"}),
		Texts: []string{
			look.Translate(webpage.Text{EN: "%s gets no more notifications. You can enable them again in the " +
				"dashboard.", VI: "%s sẽ không nhận thông báo nữa. Bạn có thể bật lại trong trang quản lý."},
				channel.Hint),
		},
	}
	if c.Request.Method != http.MethodPost && channel.Status == notification.Enabled {
		page.Title = look.Translate(webpage.Text{EN: "Unsubscribe", VI: "Hủy nhận email"})
		page.Texts = []string{
			look.Translate(webpage.Text{
				EN: "Should %s get no more notifications?",
				VI: "%s không muốn nhận thông báo nữa?",
			}, channel.Hint),
		}
		if page.Body, err = look.Body(buttonHTML, page.Title); err != nil {
			s.linkFailed(c, look, err)
			return
		}
	}
	s.showNotice(c, look, http.StatusOK, page)
}

// linkFailed shows why a link does not work.
func (s *NotificationPages) linkFailed(c *gin.Context, look webpage.Preferences, err error) {
	page, status := webpage.Page{Title: look.Translate(webpage.Text{EN: "Not available", VI: "Không mở được"})},
		http.StatusServiceUnavailable
	page.Texts = []string{
		look.Translate(webpage.Text{EN: "Reload this page in a moment.", VI: "Hãy tải lại trang sau ít phút."}),
	}
	var known *apperr.Error
	if errors.As(err, &known) && known.Kind == apperr.KindNotFound {
		status, page.Texts = http.StatusNotFound, []string{
			look.Translate(webpage.Text{EN: "This link is not valid.", VI: "Liên kết này không hợp lệ."}),
		}
	} else {
		s.Log.ErrorContext(c.Request.Context(), "the page of a link was not shown", "error", err)
	}
	s.showNotice(c, look, status, page)
}

func (s *NotificationPages) showNotice(c *gin.Context, look webpage.Preferences, status int, page webpage.Page) {
	text, err := look.HTML(page)
	if err != nil {
		s.Log.Error("a page was not rendered", "error", err)
		c.String(http.StatusInternalServerError, http.StatusText(http.StatusInternalServerError))
		return
	}
	c.Data(status, "text/html; charset=utf-8", []byte(text))
}
