package subscription

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"dateline/internal/infra/apperr"
	"dateline/internal/infra/throttle"
	"dateline/internal/infra/webpage"
)

// UnsubscribeStore finds and ends subscriptions by their tokens.
type UnsubscribeStore interface {
	SubscriptionByToken(ctx context.Context, token string) (Subscription, string, error)
	Unsubscribe(ctx context.Context, token string) error
}

// Pages serves the pages for unsubscribing.
type Pages struct {
	Store UnsubscribeStore
	Log   *slog.Logger

	requests *throttle.Limiter // by address
}

// NewPages returns Pages.
func NewPages(store UnsubscribeStore, log *slog.Logger) *Pages {
	return &Pages{Store: store, Log: log, requests: throttle.New(30, time.Second)}
}

const confirmHTML = `<form method="post"><button>{{.}}</button></form>`

// Serve asks whether to unsubscribe, because mail filters open links. Mail programs
// send the POST request themselves (RFC 8058, 3.2).
func (p *Pages) Serve(w http.ResponseWriter, r *http.Request, token, client string) {
	look := webpage.PreferencesOf(r)
	if _, ok := p.requests.Allow(throttle.ClientKey(client), time.Now()); !ok {
		w.Header().Set("Retry-After", "1")
		http.Error(w, http.StatusText(http.StatusTooManyRequests), http.StatusTooManyRequests)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	s, name, err := p.Store.SubscriptionByToken(r.Context(), token)
	if err == nil && r.Method == http.MethodPost {
		err = p.Store.Unsubscribe(r.Context(), token)
	}
	page, status := webpage.Page{Title: look.Translate(webpage.Text{EN: "Unsubscribed", VI: "Đã hủy nhận email"})},
		http.StatusOK
	var known *apperr.Error
	switch {
	case errors.As(err, &known) && known.Kind == apperr.KindNotFound:
		page.Texts = []string{
			look.Translate(webpage.Text{
				EN: "You get no emails by this subscription.", VI: "Bạn không nhận email nào từ đăng ký này.",
			}),
		}
	case err != nil:
		p.Log.ErrorContext(r.Context(), "a recipient was not unsubscribed", "error", err)
		page, status = webpage.Page{
			Title: look.Translate(webpage.Text{EN: "Not available", VI: "Không mở được"}),
			Texts: []string{look.Translate(webpage.Text{
				EN: "Reload this page in a moment.",
				VI: "Hãy tải lại trang sau ít phút.",
			})},
		}, http.StatusServiceUnavailable
	case r.Method == http.MethodPost:
		page.Texts = []string{
			look.Translate(webpage.Text{
				EN: "%s gets no more of these emails about %s.",
				VI: "%s sẽ không nhận các email này về %s nữa.",
			}, s.Email, name),
		}
	default:
		page.Title = look.Translate(webpage.Text{EN: "Unsubscribe", VI: "Hủy nhận email"})
		page.Texts = []string{
			look.Translate(webpage.Text{
				EN: "Should %s get no more of these emails about %s?",
				VI: "%s không muốn nhận các email này về %s nữa?",
			}, s.Email, name),
		}
		page.Body, err = look.Body(confirmHTML, page.Title)
		if err != nil {
			p.Log.Error("a page was not rendered", "error", err)
		}
	}
	text, err := look.HTML(page)
	if err != nil {
		p.Log.Error("a page was not rendered", "error", err)
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) //nolint:gosec // html/template escaped it
}
