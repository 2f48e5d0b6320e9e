package webhook

import (
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
)

// payload is the body of a delivery. It contains IDs and no content.
type payload struct {
	Type      string `json:"type"`
	Timestamp millis `json:"timestamp"`
	Data      any    `json:"data"`
}

type postData struct {
	PostID        *uuid.UUID `json:"post_id,omitempty"`
	TargetID      *uuid.UUID `json:"target_id,omitempty"`
	AccountID     *uuid.UUID `json:"account_id,omitempty"`
	Network       string     `json:"network,omitempty"`
	Handle        string     `json:"handle,omitempty"`
	URL           string     `json:"url,omitempty"` // of the post at the network
	ScheduledTime *millis    `json:"scheduled_time,omitempty"`
	SentAt        *millis    `json:"sent_at,omitempty"`
	LateMS        *int64     `json:"late_ms,omitempty"`
	Error         *errorData `json:"error,omitempty"`
	By            string     `json:"by,omitempty"`      // who submitted or decided: user:<id>, operator or dateline
	Note          string     `json:"note,omitempty"`    // reason of a rejection
	EndsAt        *millis    `json:"ends_at,omitempty"` // expiry of the account access
	Days          int        `json:"days,omitempty"`    // days until then, rounded up
	Domain        string     `json:"domain,omitempty"`
	Version       *int       `json:"version,omitempty"`  // of the active selectors; 0 for none
	Previous      int        `json:"previous,omitempty"` // previously active version
	Field         string     `json:"field,omitempty"`    // field that could no longer be extracted
	Reason        string     `json:"reason,omitempty"`
	LearnError    string     `json:"learn_error,omitempty"` // why relearning failed
	Link          string     `json:"link,omitempty"`        // API URL
	SavedSearchID *uuid.UUID `json:"saved_search_id,omitempty"`
	ArticleID     *uuid.UUID `json:"article_id,omitempty"`
	StoryID       *uuid.UUID `json:"story_id,omitempty"`
	Owners        int        `json:"owners,omitempty"` // that have the story
	SiteID        *uuid.UUID `json:"site_id,omitempty"`
	Hour          *millis    `json:"hour,omitempty"` // start of the hour with unusual views
	Views         *int64     `json:"views,omitempty"`
	Usual         *int64     `json:"usual,omitempty"` // median of the same hour of earlier weeks
	Alert         string     `json:"alert,omitempty"` // name of a problem of the installation
	RuleID        *uuid.UUID `json:"rule_id,omitempty"`
	WatchID       *uuid.UUID `json:"watch_id,omitempty"`
	ChangeID      *uuid.UUID `json:"change_id,omitempty"`
	Added         *int       `json:"added,omitempty"` // lines
	Removed       *int       `json:"removed,omitempty"`
}

type errorData struct {
	Class   string `json:"class,omitempty"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

// millis is a time with millisecond precision.
type millis time.Time

func (m millis) MarshalText() ([]byte, error) {
	return []byte(time.Time(m).UTC().Format("2006-01-02T15:04:05.000Z07:00")), nil
}

func optionalMillis(t *time.Time) *millis {
	if t == nil {
		return nil
	}
	m := millis(*t)
	return &m
}

// eventData is the part of the data of an event that is sent.
type eventData struct {
	URL     string     `json:"url"`
	Sent    *time.Time `json:"sent"`
	LateMS  *int64     `json:"late_ms"`
	Seconds *int64     `json:"seconds"` // lateness when it was detected
	Class   string     `json:"class"`
	Code    string     `json:"code"`
	Message string     `json:"message"`
	EndsAt  *time.Time `json:"ends_at"`
	Days    int        `json:"days"`
	Note    string     `json:"note"`

	Domain        string     `json:"domain"`
	Version       *int       `json:"version"`
	Previous      int        `json:"previous"`
	Field         string     `json:"field"`
	Reason        string     `json:"reason"`
	LearnError    string     `json:"learn_error"`
	SavedSearchID *uuid.UUID `json:"saved_search_id"`
	ArticleID     *uuid.UUID `json:"article_id"`
	StoryID       *uuid.UUID `json:"story_id"`
	PostID        *uuid.UUID `json:"post_id"` // a draft
	Owners        int        `json:"owners"`
	SiteID        *uuid.UUID `json:"site_id"`
	Hour          *time.Time `json:"hour"`
	Views         *int64     `json:"views"`
	Usual         *int64     `json:"usual"`
	Alert         string     `json:"alert"`
	RuleID        *uuid.UUID `json:"rule_id"`
	WatchID       *uuid.UUID `json:"watch_id"`
	ChangeID      *uuid.UUID `json:"change_id"`
	Added         *int       `json:"added"`
	Removed       *int       `json:"removed"`
}

// Body returns the body for an event. publicURL is the public URL of the API.
func (e Event) Body(publicURL string) (string, error) {
	var r eventData
	if len(e.Data) > 0 {
		if err := json.Unmarshal(e.Data, &r); err != nil {
			return "", err
		}
	}
	base := strings.TrimSuffix(publicURL, "/") + "/api/v1/"
	d := postData{
		PostID: e.PostID, TargetID: e.TargetID, Network: e.Network, Handle: e.Handle,
		ScheduledTime: optionalMillis(e.Scheduled),
	}
	if e.AccountID != uuid.Nil {
		d.AccountID = &e.AccountID
	}
	switch e.Type {
	case eventNeedsReconnect, eventExpiring:
		d.Link, d.EndsAt, d.Days = base+"accounts/"+e.AccountID.String(), optionalMillis(r.EndsAt), r.Days
	case eventSelectorsLearned, eventSelectorsRolledBack, eventSelectorsFailed:
		d.Domain, d.Version, d.Previous, d.Field, d.Reason, d.LearnError = r.Domain, r.Version, r.Previous, r.Field,
			r.Reason, r.LearnError
		d.Link = base + "domains/" + url.PathEscape(r.Domain) + "/selectors"
	case eventArticleMatched:
		d.SavedSearchID, d.ArticleID, d.URL = r.SavedSearchID, r.ArticleID, r.URL
		if r.ArticleID != nil {
			d.Link = base + "articles/" + r.ArticleID.String()
		}
	case eventStoryMissed:
		d.StoryID, d.PostID, d.Owners, d.URL = r.StoryID, r.PostID, r.Owners, r.URL
		if r.StoryID != nil {
			d.Link = base + "stories/" + r.StoryID.String()
		}
	case eventSiteSpike, eventSiteDrop:
		d.SiteID, d.Hour, d.Views, d.Usual = r.SiteID, optionalMillis(r.Hour), r.Views, r.Usual
		if r.SiteID != nil {
			d.Link = base + "sites/" + r.SiteID.String() + "/alerts"
		}
	case eventRulePaused:
		d.RuleID, d.Reason = r.RuleID, r.Reason
		if r.RuleID != nil {
			d.Link = base + "rules/" + r.RuleID.String()
		}
		if r.Message != "" {
			d.Error = &errorData{Message: r.Message}
		}
	case eventPageChanged:
		d.WatchID, d.ChangeID, d.URL, d.Added, d.Removed = r.WatchID, r.ChangeID, r.URL, r.Added, r.Removed
		if r.WatchID != nil {
			d.Link = base + "watches/" + r.WatchID.String() + "/changes"
		}
	case eventSystemTrouble, eventSystemRecovered:
		d.Alert, d.Link = r.Alert, base+"system"
	default:
		if e.PostID != nil {
			d.Link = base + "posts/" + e.PostID.String()
		}
		d.LateMS = r.LateMS
		switch e.Type {
		case eventSubmitted, eventApproved, eventRejected:
			d.By, d.Note = e.Actor, r.Note
		}
		if e.Type == eventLate && r.Seconds != nil {
			late := *r.Seconds * 1000
			d.LateMS = &late
		}
		if e.Type == eventPosted {
			d.URL, d.SentAt = e.RemoteURL, optionalMillis(e.SentAt)
			if r.URL != "" {
				d.URL = r.URL
			}
			if r.Sent != nil {
				d.SentAt = optionalMillis(r.Sent)
			}
		} else if r.Class != "" || r.Code != "" || r.Message != "" {
			d.Error = &errorData{Class: r.Class, Code: r.Code, Message: r.Message}
		}
	}
	return encode(TypeOf(e.Type), e.At, d)
}

func encode(kind string, at time.Time, data any) (string, error) {
	raw, err := json.Marshal(payload{Type: kind, Timestamp: millis(at), Data: data})
	return string(raw), err
}
