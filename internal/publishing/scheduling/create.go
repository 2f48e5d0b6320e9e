package scheduling

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/utm"
	"dateline/internal/publishing/post"
)

// Draft is a post as requested, before it is checked.
type Draft struct {
	Content string `json:"content,omitempty"`
	// RFC 3339, or local together with TimeZone; may be empty for an unfinished draft
	ScheduledTime  string              `json:"-"`
	TimeZone       string              `json:"-"` // IANA; empty: the workspace's
	Attachments    []string            `json:"attachments,omitempty"`
	Thread         []Segment           `json:"thread,omitempty"` // what follows the first segment
	Options        post.Options        `json:"options,omitempty"`
	Overrides      map[string]Override `json:"overrides,omitempty"` // by account id
	Accounts       []string            `json:"accounts,omitempty"`  // empty: the parent's, else the default ones
	ThreadParentID string              `json:"-"`
	Language       string              `json:"language,omitempty"`
	LateLimit      int                 `json:"drop_if_late_minutes,omitempty"` // 0: no limit
	TrackLinks     bool                `json:"track_links,omitempty"`          // replace URLs by short links
	// Of tracked links, in place of those of the account and the campaign
	UTM          utm.Params  `json:"utm,omitempty"`
	When         string      `json:"-"`                // NextFree: the next free slot of a queue
	QueueGroupID string      `json:"-"`                // whose slot ScheduledTime is, or which queue NextFree means
	Labels       []uuid.UUID `json:"labels,omitempty"` // labels and at most one campaign
	SaveAsDraft  bool        `json:"-"`                // store a draft; its content is not checked yet
}

// Segment is a segment of a thread as requested.
type Segment struct {
	Content     string   `json:"content"`
	Attachments []string `json:"attachments,omitempty"`
	// AfterMinutes is how long after the previous segment it is sent.
	AfterMinutes int `json:"after_minutes,omitempty"`
}

// Override customizes a post for one account; nil inherits a field.
type Override struct {
	Content     *string       `json:"content,omitempty"`
	Attachments *[]string     `json:"attachments,omitempty"`
	Thread      *[]Segment    `json:"thread,omitempty"`
	Options     *post.Options `json:"options,omitempty"`
}

// Schedule stores a post. replayed means that an earlier request with the same
// idempotency key stored it.
func (s *Scheduler) Schedule(
	ctx context.Context, who workspace.Principal, draft Draft, key idempotency.Key,
) (p post.Post, replayed bool, err error) {
	// Look for an earlier request first: values that were valid then, such as the
	// time, may be invalid now.
	if p, found, err := s.Store.ReplayedPost(ctx, who.WorkspaceID, key); err != nil || found {
		return p, found, err
	}
	var c *check
	p, err = untilSlot(draft.When, func() (post.Post, error) {
		var n post.NewPost
		if n, c, err = s.validate(ctx, who, draft); err != nil {
			return post.Post{}, err
		}
		n.Idempotency = key
		p, replayed, err = s.Store.CreatePost(ctx, n)
		return p, err
	})
	if err == nil {
		s.Notifier.Changed(ctx, p.ID)
		if !replayed {
			s.countScheduled(ctx, 1)
			p = c.withWarnings(ctx, p)
		}
	}
	return p, replayed, err
}

// Validate checks a draft as if it were scheduled, and returns the post that would be
// stored. The error names every invalid field.
func (s *Scheduler) Validate(ctx context.Context, who workspace.Principal, draft Draft) (post.NewPost, error) {
	n, _, err := s.validate(ctx, who, draft)
	return n, err
}

func (s *Scheduler) validate(ctx context.Context, who workspace.Principal, draft Draft) (post.NewPost, *check, error) {
	workspace, err := s.Store.Workspace(ctx, who.WorkspaceID)
	if err != nil {
		return post.NewPost{}, nil, err
	}
	c := s.check(workspace)
	n, err := c.validate(ctx, who, draft)
	if err != nil {
		return post.NewPost{}, nil, err
	}
	if len(c.problems) > 0 {
		return post.NewPost{}, nil, apperr.InvalidFields(c.problems...)
	}
	return n, c, nil
}

// validate checks a draft and returns the post that would be stored; c.problems contains
// its problems.
func (c *check) validate(ctx context.Context, who workspace.Principal, draft Draft) (_ post.NewPost, err error) {
	n := post.NewPost{Actor: who.Actor(), Post: post.Post{
		ID: uuid.Must(uuid.NewV7()), WorkspaceID: who.WorkspaceID, UserID: who.UserID,
		Content: draft.Content, Language: draft.Language, Options: draft.Options, LabelIDs: draft.Labels,
		Status: post.Scheduled,
	}}
	if draft.SaveAsDraft {
		n.Post.Status = post.Draft
	}
	c.checkWhen(draft.When, draft.ScheduledTime)
	if draft.When != "" && draft.ThreadParentID != "" {
		c.add("when", "reply_needs_time",
			"A reply needs a scheduled_time: it must not come before the post that it answers.")
	}
	if draft.When != "" && draft.SaveAsDraft {
		c.add("when", "draft_has_no_slot", "A draft gets a slot when it is scheduled.")
	}
	if draft.When != "" || draft.ScheduledTime == "" && draft.SaveAsDraft {
		n.Post.TimeZone = c.checkZone(c.zoneOr(draft.TimeZone))
	} else {
		n.Post.ScheduledTime, n.Post.TimeZone = c.parseTime(draft.ScheduledTime, draft.TimeZone)
	}
	n.Post.LateLimit = c.lateLimit(draft.LateLimit)
	n.Post.LinkBase = c.linkBase(draft.TrackLinks, "")
	n.Post.UTM = draft.UTM
	c.problems = append(c.problems, draft.UTM.Check("utm")...)
	if n.Post.AttachmentIDs, err = c.attachments(ctx, "attachments", draft.Attachments); err != nil {
		return post.NewPost{}, err
	}
	n.Post.AttachmentURLs = c.urls(n.Post.AttachmentIDs)
	if n.Post.Thread, err = c.thread(ctx, "thread", draft.Thread); err != nil {
		return post.NewPost{}, err
	}
	parent, err := c.parent(ctx, draft.ThreadParentID, n.Post.ScheduledTime)
	if err != nil {
		return post.NewPost{}, err
	}
	if parent != nil {
		n.Post.ThreadParentID, n.Post.ThreadID = &parent.ID, parent.ThreadID
		if parent.ThreadID == nil {
			n.Post.ThreadID = &parent.ID
		}
	}
	accounts, err := c.accounts(ctx, draft.Accounts, parent, draft.SaveAsDraft)
	if err != nil {
		return post.NewPost{}, err
	}
	if draft.When == NextFree {
		n.Post.ScheduledTime, n.Post.TimeZone, n.Post.QueueGroupID, err = c.queueTime(ctx, draft.QueueGroupID,
			draft.TimeZone, accounts, uuid.Nil)
	} else {
		n.Post.QueueGroupID, err = c.namedSlot(ctx, draft.QueueGroupID, n.Post.ScheduledTime, accounts)
	}
	if err != nil {
		return post.NewPost{}, err
	}
	for _, a := range accounts {
		n.AccountIDs = append(n.AccountIDs, a.ID)
	}
	if n.Overrides, err = c.overrides(ctx, draft.Overrides, n.AccountIDs); err != nil {
		return post.NewPost{}, err
	}
	if n.Post.Status == post.Scheduled && c.needsApproval(who.Role == workspace.Author) {
		n.Post.Status, n.Post.Approval.State = post.Draft, post.ApprovalPending
	}
	c.checkLanguage(draft.Language)
	c.checkText(n.Post, n.Overrides)
	if !draft.SaveAsDraft {
		c.checkContent(ctx, n.Post, n.Overrides, accounts)
	}
	return n, nil
}
