// Package audit defines the entries of the audit log and carries the origin of a request
// to the transaction that records them. Entries contain no addresses, secrets or post
// content.
package audit

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// Action is the type of an entry. The names are stable.
type Action string

// The actions. Other events of a post are in its timeline.
const (
	LoggedIn            Action = "login.succeeded"
	WorkspaceCreated    Action = "workspace.created"
	WorkspaceChanged    Action = "workspace.changed"
	WorkspaceExported   Action = "workspace.exported" // requested by a member or started by an operator
	WorkspaceImporting  Action = "workspace.import_started"
	WorkspaceImported   Action = "workspace.imported"
	MemberInvited       Action = "member.invited"
	MemberRoleChanged   Action = "member.role_changed"
	MemberRemoved       Action = "member.removed"
	LoginLinkCreated    Action = "member.login_link_created"
	LoginLinkRevoked    Action = "member.login_link_revoked"
	TokenCreated        Action = "token.created"
	TokenRevoked        Action = "token.revoked"
	AccountConnected    Action = "account.connected"
	AccountDisconnected Action = "account.disconnected"
	WebhookCreated      Action = "webhook.created"
	WebhookChanged      Action = "webhook.changed"
	WebhookDeleted      Action = "webhook.deleted"
	WebhookRotated      Action = "webhook.secret_rotated"
	ChannelCreated      Action = "notification_channel.created"
	ChannelChanged      Action = "notification_channel.changed"
	ChannelDeleted      Action = "notification_channel.deleted"
	SiteCreated         Action = "site.created"
	SiteChanged         Action = "site.changed"
	SiteDeleted         Action = "site.deleted"
	SiteRotated         Action = "site.secret_rotated"
	ReportShared        Action = "report.shared"
	ReportUnshared      Action = "report.unshared"
	StatsImported       Action = "site.stats_imported"
	StatsImportDeleted  Action = "site.stats_import_deleted"
	RecipientAdded      Action = "report.recipient_added"
	RecipientRemoved    Action = "report.recipient_removed"
	PostCanceled        Action = "post.canceled"
	PostDiscarded       Action = "post.discarded"
	PostResent          Action = "post.resent"
	PostConfirmed       Action = "post.confirmed"
	PostDeletedThere    Action = "post.deleted_there"
	PostApproved        Action = "post.approved"
	PostRejected        Action = "post.rejected"
	PostReopened        Action = "post.reopened"
	ReviewLinkCreated   Action = "post.review_link_created"
	ReviewLinkRevoked   Action = "post.review_link_revoked"
	MediaAdded          Action = "media.added"
	MediaChanged        Action = "media.changed"
	MediaDeleted        Action = "media.deleted"
	SeedCreated         Action = "seed.created"
	SeedChanged         Action = "seed.changed"
	SeedDeleted         Action = "seed.deleted"
	DomainPaused        Action = "domain.paused"
	DomainResumed       Action = "domain.resumed"
	DomainCrawlStarted  Action = "domain.crawl_started"
	FrontierCleared     Action = "domain.frontier_cleared"
	DomainChanged       Action = "domain.changed"
	ExtractionChanged   Action = "domain.extraction_changed"
	RuleCreated         Action = "rule.created"
	RuleChanged         Action = "rule.changed"
	RuleDeleted         Action = "rule.deleted"
	RulePaused          Action = "rule.paused" // by a member, or by itself
	RuleResumed         Action = "rule.resumed"
	StoryChanged        Action = "story.changed"
	StoryAlertMuted     Action = "story.alert_muted"
	StoryAlertsChanged  Action = "story.alerts_changed"
	AgentActed          Action = "agent.acted" // a tool of an agent called an operation that changes something
)

// Actor is the type of the actor.
type Actor string

// The types of actors.
const (
	User     Actor = "user"
	Operator Actor = "operator" // command line, or signal to a workflow
	Dateline Actor = "dateline" // the system
)

// Origin is the origin of a change. Unknown IDs are nil.
type Origin struct {
	Actor     Actor // default: Dateline
	UserID    uuid.UUID
	TokenID   uuid.UUID
	SessionID uuid.UUID
	RequestID uuid.UUID
}

type originKey struct{}

// With returns a context with an origin.
func With(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// ByUser returns a context for a change by a user, for requests without authentication.
// The context is unchanged outside of requests.
func ByUser(ctx context.Context, user uuid.UUID) context.Context {
	o := OriginOf(ctx)
	if o.UserID == user || o.RequestID == uuid.Nil {
		return ctx
	}
	return With(ctx, Origin{Actor: User, UserID: user, RequestID: o.RequestID})
}

// OriginOf returns the origin of a context.
func OriginOf(ctx context.Context) Origin {
	o, _ := ctx.Value(originKey{}).(Origin)
	if o.Actor == "" {
		o.Actor = Dateline
	}
	return o
}

// Object is the object of an entry: a workspace, member (by user ID),
// token, account, webhook, notification channel, post, file of the media library or session.
type Object struct {
	Type string
	ID   uuid.UUID

	// Set when the log is listed.
	Name      string // the current name, or the last one that the log has; empty: unknown
	IsDeleted bool
}

// Entry is an entry of the audit log.
type Entry struct {
	ID        int64 // increases over time
	At        time.Time
	Origin    Origin
	UserName  string // current name; empty without a user, or after deletion
	TokenName string
	Action    Action
	Object    Object
	Data      json.RawMessage // JSON object
}

// Filter selects entries of a workspace. Zero values select all.
type Filter struct {
	WorkspaceID uuid.UUID
	Actor       Actor
	UserID      *uuid.UUID
	Actions     []string
	ObjectID    *uuid.UUID
	From, To    *time.Time
	Before      *int64 // cursor
	Limit       int
}
