package story

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
)

// AlertState is the state of the alert that other sources have a story and the workspace
// does not.
type AlertState string

// The states. There is one alert for each story and workspace.
const (
	AlertWaiting AlertState = "waiting" // for the next crawl of the own sites
	AlertSent    AlertState = "sent"
	AlertCovered AlertState = "covered" // own sites or posts have it after all
	AlertMuted   AlertState = "muted"
)

// Preferences are the settings of a workspace about stories.
type Preferences struct {
	AlertEnabled bool              `json:"alert_enabled"`
	MinOwners    int               `json:"min_owners"`
	MaxAgeHours  int               `json:"max_age_hours"` // since the first article was found
	CreateDraft  bool              `json:"create_draft"`  // with the alert
	Owners       map[string]string `json:"owners"`        // registered domain to the name of its owner
}

// DefaultPreferences are those of a workspace that has not set any.
func DefaultPreferences() Preferences {
	return Preferences{MinOwners: 5, MaxAgeHours: 12, Owners: map[string]string{}}
}

// StoredPreferences are preferences with the member who stored them, in whose name drafts
// are created.
type StoredPreferences struct {
	Preferences
	WorkspaceID uuid.UUID
	UserID      uuid.UUID
	Version     int64 // 0: not stored
}

const (
	maxOwners     = 1000
	maxOwnerName  = 100
	maxMinOwners  = 100
	maxAgeHours   = 72
	maxDomainName = 255
)

func (p *Preferences) validate() error {
	var problems []apperr.FieldError
	if p.MinOwners < 2 || p.MinOwners > maxMinOwners {
		problems = append(problems, apperr.Field("min_owners", "out_of_range", "Must be between {min} and {max}.",
			"min", 2, "max", maxMinOwners))
	}
	if p.MaxAgeHours < 1 || p.MaxAgeHours > maxAgeHours {
		problems = append(problems, apperr.Field("max_age_hours", "out_of_range", "Must be between {min} and {max}.",
			"min", 1, "max", maxAgeHours))
	}
	if len(p.Owners) > maxOwners {
		problems = append(problems, apperr.Field("owners", "too_many", "At most {max} domains can have an owner.",
			"max", maxOwners))
	}
	for domain, owner := range p.Owners {
		if domain == "" || len(domain) > maxDomainName || owner == "" || len([]rune(owner)) > maxOwnerName {
			problems = append(problems,
				apperr.Field("owners", "invalid", "Give each domain an owner with 1 to {max} characters.", "max",
					maxOwnerName))
			break
		}
	}
	if len(problems) > 0 {
		return apperr.InvalidFields(problems...)
	}
	return nil
}

// Alert is an alert to send.
type Alert struct {
	WorkspaceID uuid.UUID
	StoryID     uuid.UUID
	PostID      uuid.UUID // of the draft, chosen in advance
}

// AlertStore stores alerts.
type AlertStore interface {
	AlertingWorkspaces(ctx context.Context) ([]StoredPreferences, error)
	Stories(ctx context.Context, f Filter, p Preferences) ([]Summary, error)
	// AddStoryAlerts adds waiting alerts, due when the own sites have been crawled again.
	AddStoryAlerts(ctx context.Context, workspace uuid.UUID, stories []uuid.UUID) error
	DueStoryAlerts(ctx context.Context, workspace uuid.UUID, limit int) ([]Alert, error)
	// StoryOf returns a story as a workspace sees it, and whether posts link to it.
	StoryOf(ctx context.Context, workspace, id uuid.UUID, p Preferences) (s Summary, hasPosts bool, err error)
	// SendStoryAlert raises the event of an alert, unless it no longer waits or its story was
	// merged.
	SendStoryAlert(ctx context.Context, a Alert, s Summary, hasDraft bool) (isSent bool, err error)
	// CoverStoryAlert ends a waiting alert without an event. One about a merged story is
	// deleted.
	CoverStoryAlert(ctx context.Context, a Alert) error
}

// Drafts creates draft posts, which belong to publishing.
type Drafts interface {
	// CreateStoryDraft creates a draft with a text under an id; repeated calls create one.
	CreateStoryDraft(ctx context.Context, who workspace.Principal, id uuid.UUID, text, language string) error
}

// AlertDrafts creates the drafts of alerts.
type AlertDrafts interface {
	Drafts
	// DiscardStoryDraft cancels a draft, if it exists and nobody has changed it.
	DiscardStoryDraft(ctx context.Context, workspace, id uuid.UUID) error
}

// Announcer notifies streams and webhooks of new events.
type Announcer interface {
	Announce()
}

// AlertMeter counts alerts.
type AlertMeter interface {
	StoryAlertsSent(ctx context.Context, count int)
}

// Alerter alerts workspaces of stories that other sources have and they do not.
type Alerter struct {
	Store  AlertStore
	Drafts AlertDrafts
	Events Announcer
	Meter  AlertMeter       // optional
	Now    func() time.Time // the database's time
	Log    *slog.Logger
}

const alertBatch = 50

// Alert finds stories to alert of, and sends the alerts that are due. Every step can be
// repeated: the row of the alert decides, and contains the id of the draft. A workspace or
// an alert that fails does not stop the others.
func (a *Alerter) Alert(ctx context.Context) (sent int, err error) {
	all, err := a.Store.AlertingWorkspaces(ctx)
	if err != nil {
		return 0, err
	}
	var failed []error
	for _, p := range all {
		n, err := a.alert(ctx, p)
		sent += n
		if err != nil {
			failed = append(failed, fmt.Errorf("alerting workspace %s of stories: %w", p.WorkspaceID, err))
		}
	}
	if sent > 0 {
		a.Events.Announce()
		if a.Meter != nil {
			a.Meter.StoryAlertsSent(ctx, sent)
		}
	}
	return sent, errors.Join(failed...)
}

func (a *Alerter) alert(ctx context.Context, p StoredPreferences) (sent int, err error) {
	since := a.Now().Add(-time.Duration(p.MaxAgeHours) * time.Hour)
	found, err := a.Store.Stories(ctx,
		Filter{
			WorkspaceID: p.WorkspaceID, Order: Latest, From: since.Add(-DefaultWindow), MinOwners: p.MinOwners,
			Coverage: Uncovered, SeenSince: since, Unalerted: true, Limit: alertBatch,
		}, p.Preferences)
	if err != nil {
		return 0, err
	}
	ids := make([]uuid.UUID, len(found))
	for i, s := range found {
		ids[i] = s.ID
	}
	if err := a.Store.AddStoryAlerts(ctx, p.WorkspaceID, ids); err != nil {
		return 0, err
	}
	due, err := a.Store.DueStoryAlerts(ctx, p.WorkspaceID, alertBatch)
	if err != nil {
		return 0, err
	}
	var failed []error
	for _, one := range due {
		isSent, err := a.send(ctx, p, one)
		if err != nil {
			failed = append(failed, fmt.Errorf("story %s: %w", one.StoryID, err))
		}
		if isSent {
			sent++
		}
	}
	return sent, errors.Join(failed...)
}

func (a *Alerter) send(ctx context.Context, p StoredPreferences, one Alert) (bool, error) {
	s, hasPosts, err := a.Store.StoryOf(ctx, one.WorkspaceID, one.StoryID, p.Preferences)
	if err != nil && !isNotFound(err) {
		return false, err
	}
	if err != nil || s.ID != one.StoryID || s.OwnArticles > 0 || hasPosts || s.Owners < p.MinOwners {
		if err := a.Drafts.DiscardStoryDraft(ctx, one.WorkspaceID, one.PostID); err != nil { // of a crashed attempt
			return false, err
		}
		return false, a.Store.CoverStoryAlert(ctx, one)
	}
	hasDraft := false
	if p.CreateDraft {
		who := workspace.Principal{WorkspaceID: p.WorkspaceID, UserID: p.UserID, Role: workspace.Editor}
		err := a.Drafts.CreateStoryDraft(ctx, who, one.PostID, DraftText(s), s.Language)
		if isRefused(err) {
			a.Log.WarnContext(ctx, "the draft of an alert could not be created; the alert is sent without one",
				"story_id", one.StoryID, "workspace_id", one.WorkspaceID, "error", err)
		} else if err != nil {
			return false, err
		}
		hasDraft = err == nil
	}
	isSent, err := a.Store.SendStoryAlert(ctx, one, s, hasDraft)
	if err == nil && !isSent && hasDraft { // muted or merged meanwhile
		err = a.Drafts.DiscardStoryDraft(ctx, one.WorkspaceID, one.PostID)
	}
	return isSent, err
}

// DraftText is the text of a draft about a story: its headline and a link to the article.
func DraftText(s Summary) string { return s.Headline.Title + "\n\n" + s.Headline.URL }
