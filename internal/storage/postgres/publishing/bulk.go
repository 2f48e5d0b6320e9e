package publishing

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/optional"
	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/publishing/db"
	"dateline/internal/storage/postgres/tx"
)

// insertBatch is the number of posts per insert statement.
const insertBatch = 500

// CreatePosts stores posts of one workspace in one transaction, together with the
// response for repeated requests. earlier is the response of an earlier request with
// the same key; then nothing is stored.
func (s *PostStore) CreatePosts(ctx context.Context, workspaceID, user uuid.UUID, actor string, posts []post.NewPost,
	key idempotency.Key, answer json.RawMessage,
) (earlier json.RawMessage, err error) {
	id := column.NewID()
	err = s.inTx(ctx, func(q *queries) error {
		before, err := tx.ClaimKey(ctx, q.tx, workspaceID, key, id)
		if err != nil {
			return err
		}
		if before != uuid.Nil {
			earlier, err = q.GetBulkAnswer(ctx, before)
			return err
		}
		if key.Key != "" {
			if err := q.InsertBulkAnswer(ctx, db.InsertBulkAnswerParams{ID: id, Answer: answer}); err != nil {
				return err
			}
		}
		for len(posts) > 0 {
			n := min(insertBatch, len(posts))
			if err := insertPosts(ctx, q, workspaceID, user, actor, posts[:n]); err != nil {
				return err
			}
			posts = posts[n:]
		}
		return nil
	})
	return earlier, err
}

// ReplayedBulk returns the response of an earlier bulk request with the same key.
func (s *PostStore) ReplayedBulk(
	ctx context.Context, workspaceID uuid.UUID, key idempotency.Key,
) (answer json.RawMessage, found bool, err error) {
	if key.Key == "" {
		return nil, false, nil
	}
	id, err := tx.ResourceOfKey(ctx, s.q.tx, workspaceID, key)
	if tx.NoRows(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	answer, err = s.q.GetBulkAnswer(ctx, id)
	return answer, err == nil, err
}

func insertPosts(
	ctx context.Context, q *queries, workspaceID, user uuid.UUID, actor string, posts []post.NewPost,
) error {
	in := db.InsertPostsParams{WorkspaceID: workspaceID, UserID: user}
	targets := db.InsertTargetsOfPostsParams{}
	events := db.InsertEventsOfPostsParams{WorkspaceID: workspaceID, Actor: actor}
	var files []uuid.UUID
	for _, n := range posts {
		p := n.Post
		files = append(files, mediaOf(p, n.Overrides)...)
		texts := make([]string, 4)
		at := ""
		data := map[string]any{"accounts": n.AccountIDs, "status": p.Status}
		if !p.ScheduledTime.IsZero() {
			at = p.ScheduledTime.Format(time.RFC3339Nano)
			data["scheduled_time"] = p.ScheduledTime
		}
		for i, value := range []any{
			column.List(p.AttachmentIDs), column.List(p.AttachmentURLs), column.List(p.Thread),
			data,
		} {
			raw, err := json.Marshal(value)
			if err != nil {
				return err
			}
			texts[i] = string(raw)
		}
		options, err := optionsJSON(p.Options)
		if err != nil {
			return err
		}
		late := 0
		if m := minutes(p.LateLimit); m != nil {
			late = *m
		}
		in.PostIds, in.Contents = append(in.PostIds, p.ID), append(in.Contents, p.Content)
		in.ScheduledTimes, in.TimeZones = append(in.ScheduledTimes, at), append(in.TimeZones, p.TimeZone)
		in.Statuses, in.Languages = append(in.Statuses, string(p.Status)), append(in.Languages, p.Language)
		in.AttachmentIds, in.AttachmentUrls, in.Threads = append(in.AttachmentIds, texts[0]), append(in.AttachmentUrls,
			texts[1]), append(in.Threads, texts[2])
		in.Options = append(in.Options, string(options))
		in.LateLimits = append(in.LateLimits, late)
		in.ThreadIds, in.ThreadParentIds = append(in.ThreadIds, optional.Value(p.ThreadID)), append(in.ThreadParentIds,
			optional.Value(p.ThreadParentID))
		in.LinkBases = append(in.LinkBases, p.LinkBase)
		in.Approvals = append(in.Approvals, string(approvalState(p.Approval.State)))
		events.PostIds, events.Types, events.Data = append(events.PostIds, p.ID), append(events.Types,
			post.EventCreated), append(events.Data, texts[3])
		if p.Approval.State == post.ApprovalPending {
			events.PostIds, events.Types, events.Data = append(events.PostIds, p.ID), append(events.Types,
				post.EventSubmitted), append(events.Data, "{}")
		}
		for _, account := range n.AccountIDs {
			override, err := overrideJSON(n.Overrides[account])
			if err != nil {
				return err
			}
			targets.Ids, targets.PostIds = append(targets.Ids, n.TargetID(account)), append(targets.PostIds, p.ID)
			targets.AccountIds, targets.Overrides = append(targets.AccountIds, account), append(targets.Overrides,
				override)
			targets.Fingerprints = append(targets.Fingerprints,
				p.Fingerprint(post.Target{Override: n.Overrides[account]}))
		}
	}
	if err := lockMedia(ctx, q, files); err != nil {
		return err
	}
	if err := q.InsertPosts(ctx, in); err != nil {
		return err
	}
	if err := q.InsertTargetsOfPosts(ctx, targets); err != nil {
		return err
	}
	for _, n := range posts {
		if err := savePostLinks(ctx, q, n.Post, draftTargets(n.AccountIDs, n.Overrides)); err != nil {
			return err
		}
	}
	return q.InsertEventsOfPosts(ctx, events)
}

// PostsByID returns the posts with the given ids in the workspace.
func (s *PostStore) PostsByID(ctx context.Context, workspaceID uuid.UUID, ids []uuid.UUID) ([]post.Post, error) {
	rows, err := s.q.PostsInWorkspace(ctx, db.PostsInWorkspaceParams{WorkspaceID: workspaceID, PostIds: ids})
	if err != nil {
		return nil, err
	}
	posts := make([]post.Post, len(rows))
	for i, row := range rows {
		posts[i] = fromRow(row)
	}
	return posts, addTargets(ctx, s.q, posts)
}
