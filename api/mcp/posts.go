package mcp

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/client"
	"dateline/internal/infra/optional"
)

type newPost struct {
	Text          string   `json:"text" jsonschema:"the text of the post"`
	ScheduledTime string   `json:"scheduled_time,omitempty" jsonschema:"when to publish: 2026-12-24T18:00:00+07:00, or in the workspace's time zone 2026-12-24T18:00, tomorrow 9:00, fri 18:30, in 2 hours, thứ hai 7h30"`
	NextFree      bool     `json:"next_free,omitempty" jsonschema:"use the next free slot of the queue instead of scheduled_time"`
	Accounts      []string `json:"accounts,omitempty" jsonschema:"IDs of accounts from list_accounts; default: the workspace's default accounts"`
	Attachments   []string `json:"attachments,omitempty" jsonschema:"IDs of uploaded media"`
	Language      string   `json:"language,omitempty" jsonschema:"ISO 639 code of the text"`
	DryRun        bool     `json:"dry_run,omitempty" jsonschema:"only check the post and show what networks would get"`
	Key           string   `json:"idempotency_key,omitempty" jsonschema:"unique key: repeated calls with the same key create one post"`
}

type postID struct {
	ID     string `json:"id" jsonschema:"ID of the post"`
	DryRun bool   `json:"dry_run,omitempty" jsonschema:"change nothing, and return the post as it is"`
}

type postEdit struct {
	ID            string   `json:"id" jsonschema:"ID of the post"`
	Text          *string  `json:"text,omitempty" jsonschema:"the new text"`
	ScheduledTime string   `json:"scheduled_time,omitempty" jsonschema:"the new time"`
	Accounts      []string `json:"accounts,omitempty" jsonschema:"IDs of accounts; replaces all"`
	DryRun        bool     `json:"dry_run,omitempty" jsonschema:"change nothing, and return the post as it is"`
}

func (t *tools) addPosts() {
	add(t, "preview_post", reads, "Show what each network would get, with problems and warnings. Changes nothing.",
		func(ctx context.Context, in newPost, e client.Edit) (response, error) {
			return t.preview(ctx, in, e)
		})
	add(t, "draft_post", changes, "Create a draft. It is not published.",
		func(ctx context.Context, in newPost, e client.Edit) (response, error) {
			if in.DryRun {
				return t.preview(ctx, in, e)
			}
			return checked(t.createDraft(ctx, in, e))
		})
	add(t, "schedule_post", changes,
		"Schedule a post. With the role author it is submitted for approval instead: an editor decides whether it is "+
			"published.", t.schedule)
	add(t, "edit_post", changes, "Change a post that is not published yet.", t.editPost)
	add(t, "submit_post", changes, "Submit a draft that has a time for approval by an editor.",
		t.onPost(func(ctx context.Context, p *spec.Post, e client.Edit) (response, error) {
			return checked(t.API.SubmitPost(ctx, p.Id, &spec.SubmitPostParams{IfMatch: version(p)}, e))
		}))
	add(t, "cancel_post", removes, "Cancel a post that is not published yet.",
		t.onPost(func(ctx context.Context, p *spec.Post, e client.Edit) (response, error) {
			return checked(t.API.CancelPost(ctx, p.Id, &spec.CancelPostParams{IfMatch: version(p)}, e))
		}))
	add(t, "retry_post", changes, "Publish the failed targets of a post again. Requires more than the role author.",
		t.onPost(func(ctx context.Context, p *spec.Post, e client.Edit) (response, error) {
			if t.MaxRole == Author {
				return nil, errors.New("agents with the role author cannot publish; ask an editor to retry the post " +
					"in the dashboard")
			}
			return checked(t.API.RetryPost(ctx, p.Id, &spec.RetryPostParams{IfMatch: version(p)}, spec.TargetChoice{},
				e))
		}))
}

// when returns the scheduled time that a text means; an empty one means none.
func (t *tools) when(ctx context.Context, text string, e client.Edit) (*string, error) {
	if text == "" {
		return nil, nil
	}
	r, err := t.API.ParseTime(ctx, &spec.ParseTimeParams{Text: text}, e)
	if err != nil {
		return nil, fmt.Errorf("scheduled_time: %w", err)
	}
	return optional.Of(r.Value.Time.Format(time.RFC3339)), nil
}

func (t *tools) preview(ctx context.Context, in newPost, e client.Edit) (response, error) {
	at, err := t.when(ctx, in.ScheduledTime, e)
	if err != nil {
		return nil, err
	}
	p := spec.PreviewedPost{
		Content: &in.Text, ScheduledTime: at, Accounts: list(in.Accounts), Attachments: list(in.Attachments),
		Language: optional.Of(in.Language),
	}
	if in.NextFree {
		p.When = optional.Of(spec.NextFree)
	}
	if in.ScheduledTime == "" && !in.NextFree {
		p.Draft = optional.Of(true)
	}
	return checked(t.API.PreviewPost(ctx, p, e))
}

func (t *tools) createDraft(ctx context.Context, in newPost, e client.Edit) (*client.Response[spec.Created], error) {
	at, err := t.when(ctx, in.ScheduledTime, e)
	if err != nil {
		return nil, err
	}
	return t.create(ctx, spec.PostCreate{
		Content: in.Text, ScheduledTime: at, Draft: optional.Of(true),
		Accounts:    list(in.Accounts),
		Attachments: list(in.Attachments), Language: optional.Of(in.Language),
	}, in.Key, e)
}

func (t *tools) create(
	ctx context.Context, p spec.PostCreate, key string, e client.Edit,
) (*client.Response[spec.Created], error) {
	if key == "" {
		key = uuid.NewString()
	}
	key = "mcp-" + key
	return t.API.CreatePost(ctx, &spec.CreatePostParams{IdempotencyKey: &key}, p, e)
}

// schedule schedules a post, or submits it for approval: with the role author always,
// also if the workspace lets its authors publish.
func (t *tools) schedule(ctx context.Context, in newPost, e client.Edit) (response, error) {
	switch {
	case in.ScheduledTime == "" && !in.NextFree:
		return nil, errors.New("scheduled_time is required, or next_free")
	case in.DryRun:
		return t.preview(ctx, in, e)
	case t.MaxRole != Author:
		at, err := t.when(ctx, in.ScheduledTime, e)
		if err != nil {
			return nil, err
		}
		p := spec.PostCreate{
			Content: in.Text, ScheduledTime: at, Accounts: list(in.Accounts),
			Attachments: list(in.Attachments), Language: optional.Of(in.Language),
		}
		if in.NextFree {
			p.When = optional.Of(spec.NextFree)
		}
		return checked(t.create(ctx, p, in.Key, e))
	case in.ScheduledTime == "":
		return nil, errors.New("next_free takes a slot at once, so it needs more than the role author; use " +
			"suggest_slots and scheduled_time")
	}
	draft, err := t.createDraft(ctx, in, e)
	if err != nil {
		return nil, err
	}
	submitted, err := t.API.SubmitPost(ctx, draft.Value.Id, &spec.SubmitPostParams{IfMatch: version(draft.Value)}, e)
	if err != nil {
		return nil, fmt.Errorf("the post %s is a draft and could not be submitted for approval: %w", draft.Value.Id,
			err)
	}
	return note("The post waits for the approval of an editor. It is published at its time if it is approved before.",
		submitted.Value)
}

func (t *tools) editPost(ctx context.Context, in postEdit, e client.Edit) (response, error) {
	p, err := t.read(ctx, in.ID, e)
	if err != nil {
		return nil, err
	}
	// An approved post must not change under the editor who approved it.
	if t.MaxRole == Author && p.Status != spec.PostStatusDraft {
		return nil, errors.New("agents with the role author can only edit drafts; this post is " + string(p.Status))
	}
	if in.DryRun {
		return note("Nothing was changed. The post can be edited.", p)
	}
	at, err := t.when(ctx, in.ScheduledTime, e)
	if err != nil {
		return nil, err
	}
	return checked(t.API.EditPost(ctx, p.Id, &spec.EditPostParams{IfMatch: version(p)},
		spec.PostEdit{Content: in.Text, ScheduledTime: at, Accounts: list(in.Accounts)}, e))
}

// onPost returns a tool that changes one post.
func (t *tools) onPost(
	do func(context.Context, *spec.Post, client.Edit) (response, error),
) func(context.Context, postID, client.Edit) (response, error) {
	return func(ctx context.Context, in postID, e client.Edit) (response, error) {
		p, err := t.read(ctx, in.ID, e)
		if err != nil {
			return nil, err
		}
		if in.DryRun {
			return note("Nothing was changed. This is the post as it is.", p)
		}
		return do(ctx, p, e)
	}
}

func (t *tools) read(ctx context.Context, id string, e client.Edit) (*spec.Post, error) {
	parsed, err := parseID("id", id)
	if err != nil {
		return nil, err
	}
	r, err := t.API.GetPost(ctx, parsed, e)
	if err != nil {
		return nil, err
	}
	return r.Value, nil
}

// version returns the precondition that a post has not changed since it was read.
func version(p *spec.Post) *string { return optional.Of(`"` + strconv.FormatInt(p.Version, 10) + `"`) }
