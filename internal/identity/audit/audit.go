// Package audit says who did what: the actions that are recorded, and how a
// request's origin reaches the transaction that records them. No entry holds
// an address, a secret or the text of a post.
package audit

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// Action is what was done. The names are stable.
type Action string

// The actions. What else happens to a post is told by its timeline.
const (
	LoggedIn            Action = "login.succeeded"
	WorkspaceCreated    Action = "workspace.created"
	WorkspaceChanged    Action = "workspace.changed"
	WorkspaceExported   Action = "workspace.exported" // asked for, or begun by an operator
	WorkspaceImporting  Action = "workspace.import_began"
	WorkspaceImported   Action = "workspace.imported"
	MemberInvited       Action = "member.invited"
	MemberRoleChanged   Action = "member.role_changed"
	MemberRemoved       Action = "member.removed"
	TokenCreated        Action = "token.created"
	TokenRevoked        Action = "token.revoked"
	AccountConnected    Action = "account.connected"
	AccountDisconnected Action = "account.disconnected"
	WebhookCreated      Action = "webhook.created"
	WebhookChanged      Action = "webhook.changed"
	WebhookDeleted      Action = "webhook.deleted"
	WebhookRotated      Action = "webhook.secret_rotated"
	SiteCreated         Action = "site.created"
	SiteChanged         Action = "site.changed"
	SiteDeleted         Action = "site.deleted"
	SiteRotated         Action = "site.secret_rotated"
	PostCanceled        Action = "post.canceled"
	PostDiscarded       Action = "post.discarded"
	PostResent          Action = "post.resent"
	PostConfirmed       Action = "post.confirmed"
	PostApproved        Action = "post.approved"
	PostRejected        Action = "post.rejected"
	MediaAdded          Action = "media.added"
	MediaChanged        Action = "media.changed"
	MediaDeleted        Action = "media.deleted"
	SeedCreated         Action = "seed.created"
	SeedChanged         Action = "seed.changed"
	SeedDeleted         Action = "seed.deleted"
	DomainPaused        Action = "domain.paused"
	DomainResumed       Action = "domain.resumed"
	DomainRun           Action = "domain.run"
	DomainEmptied       Action = "domain.emptied"
	DomainEdited        Action = "domain.edited"
	DomainReading       Action = "domain.reading_changed"
)

// Actor is what kind of actor did it.
type Actor string

// The kinds of actors.
const (
	User     Actor = "user"
	Operator Actor = "operator" // at the machine, or by a signal to a workflow
	Dateline Actor = "dateline" // by itself
)

// Origin is where a change comes from. Nil ids: not known, or not so.
type Origin struct {
	Actor     Actor // empty: Dateline
	UserID    uuid.UUID
	TokenID   uuid.UUID
	SessionID uuid.UUID
	RequestID uuid.UUID
}

type originKey struct{}

// With gives the context of a change that comes from o.
func With(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// ByUser gives the context of a change that a user made, where the request
// itself does not say who that is. What no request asks for is not theirs.
func ByUser(ctx context.Context, user uuid.UUID) context.Context {
	o := OriginOf(ctx)
	if o.UserID == user || o.RequestID == uuid.Nil {
		return ctx
	}
	return With(ctx, Origin{Actor: User, UserID: user, RequestID: o.RequestID})
}

// OriginOf says where a change comes from.
func OriginOf(ctx context.Context) Origin {
	o, _ := ctx.Value(originKey{}).(Origin)
	if o.Actor == "" {
		o.Actor = Dateline
	}
	return o
}

// Object is what an entry is about: a workspace, member (by the user's id),
// token, account, webhook, post, file of the media library or session.
type Object struct {
	Type string
	ID   uuid.UUID
}

// Entry is one line of a workspace's audit log.
type Entry struct {
	ID        int64 // grows
	At        time.Time
	Origin    Origin
	UserName  string // as it is now; empty: no user, or gone
	TokenName string
	Action    Action
	Object    Object
	Data      json.RawMessage // an object
}

// Filter chooses entries of one workspace. Zero values choose all.
type Filter struct {
	WorkspaceID uuid.UUID
	Actor       Actor
	UserID      *uuid.UUID
	Actions     []string
	ObjectID    *uuid.UUID
	From, To    *time.Time
	Before      *int64 // the cursor
	Limit       int
}
