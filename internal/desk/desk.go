// Package desk holds the rules for scheduling, changing and taking back posts.
// The API and the signals of the Post workflow both go through it, so that no
// way around a rule exists.
package desk

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"dateline/internal/account"
	"dateline/internal/media"
	"dateline/internal/people"
	"dateline/internal/post"
	"dateline/internal/store"
	"dateline/platforms/network"
)

// Store keeps posts and finds what they name.
type Store interface {
	ReplayedPost(ctx context.Context, workspace uuid.UUID, key store.Idempotency) (p post.Post, found bool, err error)
	CreatePost(ctx context.Context, n store.NewPost) (p post.Post, replayed bool, err error)
	PostInWorkspace(ctx context.Context, workspace, id uuid.UUID) (post.Post, error)
	Edit(ctx context.Context, g post.Guard, change post.Change, attachmentURLs []string) (post.Post, error)
	Cancel(ctx context.Context, g post.Guard) (post.Post, error)
	PublishNow(ctx context.Context, g post.Guard) (post.Post, error)

	Workspace(ctx context.Context, id uuid.UUID) (people.Workspace, error)
	AccountsByID(ctx context.Context, workspace uuid.UUID, ids []uuid.UUID) ([]account.Account, error)
	DefaultAccounts(ctx context.Context, workspace uuid.UUID) ([]account.Account, error)
	MediaByID(ctx context.Context, workspace uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]media.Item, error)
}

// Networks finds the adapter that knows a network's rules.
type Networks interface {
	Get(name string) (network.Network, bool)
}

// Accounts opens an account for its adapter.
type Accounts interface {
	Open(ctx context.Context, id uuid.UUID) (account.Account, network.Account, error)
}

// Live tells open streams that a post changed.
type Live interface {
	Changed(ctx context.Context, postID uuid.UUID)
}

// Desk applies the rules. All fields must be set.
type Desk struct {
	Store     Store
	Accounts  Accounts
	Networks  Networks
	ObjectURL func(key string) string
	Live      Live
	Log       *slog.Logger
}

// Draft is what a person asks to be published, as it arrives.
type Draft struct {
	Content        string
	ScheduledTime  string // RFC 3339, or local together with TimeZone
	TimeZone       string // IANA; empty: the workspace's
	Attachments    []string
	Accounts       []string // empty: the parent's, else the default ones
	ThreadParentID string
	Language       string
}

// Schedule stores a post. replayed says that the same request was carried out
// before.
func (d *Desk) Schedule(ctx context.Context, who people.Principal, draft Draft, key store.Idempotency) (p post.Post, replayed bool, err error) {
	// Before anything is checked: what was right when the request first came may
	// not be any more, its time for instance.
	if p, found, err := d.Store.ReplayedPost(ctx, who.WorkspaceID, key); err != nil || found {
		return p, found, err
	}
	workspace, err := d.Store.Workspace(ctx, who.WorkspaceID)
	if err != nil {
		return post.Post{}, false, err
	}
	c := check{desk: d, workspace: workspace}
	n := store.NewPost{Actor: who.Actor(), Idempotency: key, Post: post.Post{
		ID: uuid.Must(uuid.NewV7()), WorkspaceID: who.WorkspaceID, UserID: who.UserID,
		Content: draft.Content, Language: draft.Language}}

	n.Post.ScheduledTime, n.Post.TimeZone = c.when(draft.ScheduledTime, draft.TimeZone)
	files, err := c.attachments(ctx, draft.Attachments)
	if err != nil {
		return post.Post{}, false, err
	}
	for _, f := range files {
		n.Post.AttachmentIDs = append(n.Post.AttachmentIDs, f.ID)
		n.Post.AttachmentURLs = append(n.Post.AttachmentURLs, d.ObjectURL(f.ObjectKey))
	}
	parent, err := c.parent(ctx, draft.ThreadParentID, n.Post.ScheduledTime)
	if err != nil {
		return post.Post{}, false, err
	}
	if parent != nil {
		n.Post.ThreadParentID, n.Post.ThreadID = &parent.ID, parent.ThreadID
		if parent.ThreadID == nil {
			n.Post.ThreadID = &parent.ID
		}
	}
	accounts, err := c.accounts(ctx, draft.Accounts, parent)
	if err != nil {
		return post.Post{}, false, err
	}
	for _, a := range accounts {
		n.AccountIDs = append(n.AccountIDs, a.ID)
	}
	c.language(draft.Language)
	c.content(ctx, draft.Content, files, parent != nil, accounts)
	if len(c.problems) > 0 {
		return post.Post{}, false, post.InvalidFields(c.problems...)
	}
	p, replayed, err = d.Store.CreatePost(ctx, n)
	if err == nil {
		d.Live.Changed(ctx, p.ID)
	}
	return p, replayed, err
}

// Edit is a change as it arrives; nil leaves a field as it is.
type Edit struct {
	Content       *string
	ScheduledTime *string
	TimeZone      *string
	Attachments   *[]string
	Accounts      *[]string
	Language      *string
}

// Change edits a post that is not yet being published.
func (d *Desk) Change(ctx context.Context, g post.Guard, edit Edit) (post.Post, error) {
	workspace, err := d.Store.Workspace(ctx, g.WorkspaceID)
	if err != nil {
		return post.Post{}, err
	}
	current, err := d.Store.PostInWorkspace(ctx, g.WorkspaceID, g.PostID)
	if err != nil {
		return post.Post{}, err
	}
	// Said before anything about the fields: nothing that they hold would help.
	if current.Status != post.Scheduled && current.Status != post.Draft {
		return post.Post{}, post.TooLate(current.Status)
	}
	c := check{desk: d, workspace: workspace}
	change := post.Change{Content: edit.Content, Language: edit.Language}
	content := current.Content
	if edit.Content != nil {
		content = *edit.Content
	}
	parent, err := c.answered(ctx, current)
	if err != nil {
		return post.Post{}, err
	}
	c.changedTime(edit, current, parent, &change)
	files, urls, err := c.changedFiles(ctx, edit, current, &change)
	if err != nil {
		return post.Post{}, err
	}
	accounts, err := c.changedAccounts(ctx, edit, current, parent, &change)
	if err != nil {
		return post.Post{}, err
	}
	if change.Empty() {
		c.add("", "empty", "Name at least one field to change.")
	}
	if edit.Language != nil {
		c.language(*edit.Language)
	}
	c.content(ctx, content, files, parent != nil, accounts)
	if len(c.problems) > 0 {
		return post.Post{}, post.InvalidFields(c.problems...)
	}
	return d.announce(ctx, func() (post.Post, error) { return d.Store.Edit(ctx, g, change, urls) })
}

// Cancel takes back a post that is not yet being published.
func (d *Desk) Cancel(ctx context.Context, g post.Guard) (post.Post, error) {
	return d.announce(ctx, func() (post.Post, error) { return d.Store.Cancel(ctx, g) })
}

// PublishNow makes a waiting post due at once.
func (d *Desk) PublishNow(ctx context.Context, g post.Guard) (post.Post, error) {
	return d.announce(ctx, func() (post.Post, error) { return d.Store.PublishNow(ctx, g) })
}

func (d *Desk) announce(ctx context.Context, change func() (post.Post, error)) (post.Post, error) {
	p, err := change()
	if err == nil {
		d.Live.Changed(ctx, p.ID)
	}
	return p, err
}

// limitsPatience is how long a person waits for an instance to say its limits.
const limitsPatience = 3 * time.Second
