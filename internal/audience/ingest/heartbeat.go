package ingest

import (
	"context"
	"net/http"
	"time"

	"dateline/internal/audience/botfilter"
	"dateline/internal/audience/counter"
	"dateline/internal/infra/apperr"
)

// heartbeatMessage is a heartbeat as the tracker sends it. Its numbers are totals
// of the view.
type heartbeatMessage struct {
	message
	Engaged int64 `json:"engaged"` // milliseconds
	Scroll  int   `json:"scroll"`  // percent
	Hidden  bool  `json:"hidden"`
}

// heartbeatType is the type of heartbeats, which their messages may contain.
const heartbeatType = "heartbeat"

// handleHeartbeat serves POST /v1/heartbeat.
func (in *Handler) handleHeartbeat(w http.ResponseWriter, r *http.Request) {
	var m heartbeatMessage
	if !readHit(w, r, &m) {
		return
	}
	if m.Type != "" && m.Type != heartbeatType {
		writeInvalid(w, apperr.FieldError{
			Field: "type", Code: "not_allowed", Message: "This endpoint only receives heartbeats; use /v1/event.",
		})
		return
	}
	s, ok := in.authorizeSite(w, r, m.Site)
	if !ok {
		return
	}
	h, problems := in.parseMessage(r, s, m.message)
	if m.View == "" {
		problems = append(problems, apperr.FieldError{
			Field: "view", Code: "required", Message: "Send the number that the view was sent with.",
		})
	}
	if m.Engaged < 0 {
		problems = append(problems, apperr.FieldError{
			Field: "engaged", Code: "out_of_range", Message: "Must not be negative.",
		})
	}
	if m.Scroll < 0 || m.Scroll > 100 {
		problems = append(problems, apperr.FieldError{
			Field: "scroll", Code: "out_of_range", Message: "Must be from 0 to 100.",
		})
	}
	if len(problems) > 0 {
		writeInvalid(w, problems...)
		return
	}
	if in.filterReason(r.Header, m.Webdriver) == "" {
		engaged := time.Duration(min(m.Engaged, counter.MaxEngaged.Milliseconds())) * time.Millisecond
		if err := in.recordHeartbeat(r.Context(), h,
			counter.Heartbeat{
				Site: s.CounterSite, View: m.View, Engaged: engaged, Scroll: m.Scroll, Hidden: m.Hidden,
				At: h.at,
			}); err != nil {
			in.writeError(w, r, err)
			return
		}
	}
	w.WriteHeader(http.StatusAccepted)
}

// recordHeartbeat records a heartbeat within the rate limit. Others are dropped:
// the next one has the total.
func (in *Handler) recordHeartbeat(ctx context.Context, h hit, total counter.Heartbeat) error {
	v, err := in.identify(ctx, h)
	if err != nil {
		return err
	}
	within, err := in.RateLimiter.Allow(ctx, botfilter.Source{Site: h.site.ID, Visitor: rateID(v), Kind: 'h'},
		botfilter.Limit{Max: h.site.RateHits, Window: time.Duration(h.site.RateSeconds) * time.Second})
	if err != nil || !within {
		return err
	}
	total.Page, total.Visitor, total.Link = in.pageName(h), v, linkOf(h.url)
	known, err := in.Counter.Heartbeat(ctx, total)
	if known {
		in.Notifier.Notify(h.site.ID)
	}
	return err
}
