package scheduling

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
)

// BulkStore stores many posts in one transaction.
type BulkStore interface {
	ReplayedBulk(ctx context.Context, workspace uuid.UUID, key idempotency.Key) (answer json.RawMessage, found bool,
		err error)
	CreatePosts(ctx context.Context, workspace, user uuid.UUID, actor string, posts []post.NewPost, key idempotency.Key,
		answer json.RawMessage) (earlier json.RawMessage, err error)
}

// Row is one post of a bulk request. Problems are those found while parsing it; a row
// that has any is not checked further.
type Row struct {
	Number   int
	Draft    Draft
	Problems []apperr.FieldError
}

// RowResult is the result of a row: a post, or problems.
type RowResult struct {
	Row      int                 `json:"row"`
	PostID   uuid.UUID           `json:"post_id"`
	Draft    bool                `json:"draft"`
	Problems []apperr.FieldError `json:"problems"`
	Approval post.ApprovalState  `json:"approval,omitempty"`
	Warnings []post.Warning      `json:"warnings,omitempty"`
	Price    post.Price          `json:"price,omitzero"`
}

// BulkResult is the result of a bulk request.
type BulkResult struct {
	Rows     []RowResult `json:"rows"`
	Valid    int         `json:"valid"`
	Stored   bool        `json:"stored"` // the valid rows were stored
	Replayed bool        `json:"-"`
	Posts    []post.Post `json:"-"` // that were stored by this request
}

// BulkOptions control a bulk request.
type BulkOptions struct {
	SkipInvalid bool // store the valid rows even if others are invalid
	DryRun      bool
}

// ScheduleRows stores many posts in one transaction. Without SkipInvalid, one invalid
// row prevents all from being stored.
func (s *Scheduler) ScheduleRows(
	ctx context.Context, who workspace.Principal, rows []Row, o BulkOptions, key idempotency.Key,
) (BulkResult, error) {
	if !o.DryRun {
		if raw, found, err := s.Store.ReplayedBulk(ctx, who.WorkspaceID, key); err != nil || found {
			return replayedBulk(raw, err)
		}
	}
	workspace, err := s.Store.Workspace(ctx, who.WorkspaceID)
	if err != nil {
		return BulkResult{}, err
	}
	c := s.check(workspace)
	if err := c.prefetch(ctx, rows); err != nil {
		return BulkResult{}, err
	}
	done := BulkResult{Rows: make([]RowResult, 0, len(rows))}
	posts := make([]post.NewPost, 0, len(rows))
	right := make([]validRow, 0, len(rows))
	for _, row := range rows {
		result := RowResult{Row: row.Number, Draft: row.Draft.SaveAsDraft, Problems: row.Problems}
		if len(row.Problems) == 0 {
			c = c.next()
			n, err := c.validate(ctx, who, row.Draft)
			if err != nil {
				return BulkResult{}, err
			}
			if result.Problems = c.problems; len(c.problems) == 0 {
				result.PostID, result.Draft = n.Post.ID, n.Post.Status == post.Draft
				result.Approval = n.Post.Approval.State
				n.TargetIDs = make(map[uuid.UUID]uuid.UUID, len(n.AccountIDs))
				for _, account := range n.AccountIDs {
					n.TargetIDs[account] = n.TargetID(account)
				}
				posts = append(posts, n)
				accounts, err := c.lookup.accounts(ctx, n.AccountIDs) // cached by now
				if err != nil {
					return BulkResult{}, err
				}
				stored := previewPost(n, accounts)
				right = append(right, validRow{number: row.Number, at: len(done.Rows), post: stored})
				result.Warnings, result.Price = c.contentWarnings(stored), c.price(ctx, stored)
			}
		}
		done.Rows = append(done.Rows, result)
	}
	done.Valid = len(posts)
	if err := c.addRowWarnings(ctx, right, done.Rows); err != nil {
		return BulkResult{}, err
	}
	if o.DryRun || len(posts) == 0 || len(posts) < len(rows) && !o.SkipInvalid {
		return done.notStored(), nil
	}
	done.Stored = true
	answer, err := json.Marshal(done)
	if err != nil {
		return BulkResult{}, err
	}
	earlier, err := s.Store.CreatePosts(ctx, who.WorkspaceID, who.UserID, who.Actor(), posts, key, answer)
	if err != nil || earlier != nil {
		return replayedBulk(earlier, err)
	}
	s.countScheduled(ctx, len(posts))
	for i, row := range right {
		p := row.post
		// As it is stored
		p.Version, p.Revision, p.ScheduledTime = 1, 1, p.ScheduledTime.UTC().Truncate(time.Microsecond)
		for j := range p.Targets {
			p.Targets[j].ID, p.Targets[j].PostID = posts[i].TargetID(p.Targets[j].AccountID), p.ID
		}
		done.Posts = append(done.Posts, p)
	}
	return done, nil
}

func replayedBulk(raw json.RawMessage, err error) (done BulkResult, _ error) {
	if err == nil {
		err = json.Unmarshal(raw, &done)
	}
	done.Replayed = true
	return done, err
}

// notStored removes the ids of posts that were not stored.
func (b BulkResult) notStored() BulkResult {
	for i := range b.Rows {
		b.Rows[i].PostID = uuid.Nil
	}
	return b
}

// prefetch looks up everything that the rows refer to, and replaces handles by ids.
func (c *check) prefetch(ctx context.Context, rows []Row) error {
	all, err := c.scheduler.Store.Accounts(ctx, c.workspace.ID)
	if err != nil {
		return err
	}
	for _, a := range all {
		c.lookup.accountByID[a.ID] = &a
	}
	var files, parents []uuid.UUID
	note := func(into *[]uuid.UUID, texts ...string) {
		for _, text := range texts {
			if id, err := uuid.Parse(text); err == nil {
				*into = append(*into, id)
			}
		}
	}
	handles := byHandle(all)
	for i := range rows {
		d := &rows[i].Draft
		rows[i].Problems = append(rows[i].Problems, resolve(d.Accounts, handles)...)
		note(&files, d.Attachments...)
		note(&parents, d.ThreadParentID)
		for _, s := range d.Thread {
			note(&files, s.Attachments...)
		}
		for _, o := range d.Overrides {
			if o.Attachments != nil {
				note(&files, *o.Attachments...)
			}
			if o.Thread != nil {
				for _, s := range *o.Thread {
					note(&files, s.Attachments...)
				}
			}
		}
	}
	if _, err := c.lookup.files(ctx, files); err != nil {
		return err
	}
	_, err = c.lookup.posts(ctx, parents)
	return err
}

// byHandle maps handles, with and without the network prefix, to accounts. Connected
// accounts take precedence over disconnected ones.
func byHandle(all []account.Account) map[string][]account.Account {
	handles := map[string][]account.Account{}
	for _, connected := range []bool{true, false} {
		for _, a := range all {
			if (a.Status == account.Connected) != connected {
				continue
			}
			handle := strings.ToLower(strings.TrimPrefix(a.Handle, "@"))
			for _, name := range []string{handle, a.Network + ":" + handle} {
				if connected || len(handles[name]) == 0 {
					handles[name] = append(handles[name], a)
				}
			}
		}
	}
	return handles
}

// resolve replaces handles, such as @desk@social.example or
// mastodon:@desk@social.example, by ids.
func resolve(accounts []string, handles map[string][]account.Account) (problems []apperr.FieldError) {
	for i, text := range accounts {
		if _, err := uuid.Parse(text); err == nil {
			continue
		}
		name := strings.ToLower(strings.TrimPrefix(text, "@"))
		if network, handle, ok := strings.Cut(name, ":@"); ok {
			name = network + ":" + handle
		}
		field := fmt.Sprintf("accounts[%d]", i)
		switch found := handles[name]; len(found) {
		case 1:
			accounts[i] = found[0].ID.String()
		case 0:
			problems = append(problems, apperr.Field(field, "unknown_account", "There is no account {account}.", text))
		default:
			problems = append(problems,
				apperr.Field(field, "ambiguous_account",
					"Several accounts are called {account}. Name the network too, like {example}, or the account's id.",
					text, found[0].Network+":"+text))
		}
	}
	return problems
}
