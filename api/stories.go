package api

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/optional"
	"dateline/internal/news/story"
)

// StoryHandler serves stories.
type StoryHandler struct{ Stories Stories }

// Stories shows and changes stories: story.Editor.
type Stories interface {
	List(ctx context.Context, who workspace.Principal, f story.Filter) ([]story.Summary, error)
	Get(ctx context.Context, who workspace.Principal, id uuid.UUID) (story.Page, error)
	Merge(ctx context.Context, who workspace.Principal, into, from uuid.UUID) error
	Split(ctx context.Context, who workspace.Principal, id uuid.UUID, articles []uuid.UUID) (uuid.UUID, error)
	Move(ctx context.Context, who workspace.Principal, from, to uuid.UUID, articles []uuid.UUID) error
	PinHeadline(ctx context.Context, who workspace.Principal, id uuid.UUID, article *uuid.UUID) error
	Undo(ctx context.Context, who workspace.Principal, event uuid.UUID) error
	Mute(ctx context.Context, who workspace.Principal, id uuid.UUID) error
	CreateDraft(ctx context.Context, who workspace.Principal, id uuid.UUID) (uuid.UUID, error)
	Preferences(ctx context.Context, who workspace.Principal) (story.StoredPreferences, error)
	SetPreferences(ctx context.Context, who workspace.Principal, p story.Preferences) (story.StoredPreferences, error)
}

// defaultStoryPeriod is the time that a list of stories covers.
const defaultStoryPeriod = 7 * 24 * time.Hour

// ListStories lists stories.
func (s *StoryHandler) ListStories(
	ctx context.Context, r spec.ListStoriesRequestObject,
) (spec.ListStoriesResponseObject, error) {
	limit := limitOf(r.Params.Limit)
	f := story.Filter{
		Order: story.Latest, Language: optional.Value(r.Params.Language),
		From: time.Now().Add(-defaultStoryPeriod), To: optional.Value(r.Params.To),
		Coverage: story.Coverage(optional.Value(r.Params.Coverage)), Limit: limit + 1,
	}
	if r.Params.MinOwners != nil {
		f.MinOwners = *r.Params.MinOwners
	}
	if optional.Value(r.Params.Order) == spec.StoryOrder(story.Rising) {
		f.Order, f.From = story.Rising, time.Time{}
	}
	if r.Params.From != nil {
		f.From = *r.Params.From
	}
	if r.Params.Cursor != nil {
		at, id, err := readCursor(*r.Params.Cursor)
		if err != nil {
			return nil, err
		}
		f.BeforeTime, f.BeforeID = *at, *id
	}
	all, err := s.Stories.List(ctx, principal(ctx), f)
	if err != nil {
		return nil, err
	}
	out := spec.ListStories200JSONResponse{Stories: []spec.Story{}}
	if len(all) > limit {
		all = all[:limit]
		if last := all[limit-1]; f.Order == story.Latest {
			out.NextCursor = optional.Of(cursor(last.LastAt, last.ID))
		}
	}
	for _, one := range all {
		out.Stories = append(out.Stories, storyJSON(one))
	}
	return out, nil
}

// GetStory gets a story.
func (s *StoryHandler) GetStory(
	ctx context.Context, r spec.GetStoryRequestObject,
) (spec.GetStoryResponseObject, error) {
	p, err := s.Stories.Get(ctx, principal(ctx), r.Id)
	if err != nil {
		return nil, err
	}
	return spec.GetStory200JSONResponse(storyPageJSON(p)), nil
}

// MergeStory merges another story into a story.
func (s *StoryHandler) MergeStory(
	ctx context.Context, r spec.MergeStoryRequestObject,
) (spec.MergeStoryResponseObject, error) {
	return spec.MergeStory204Response{}, s.Stories.Merge(ctx, principal(ctx), r.Id, r.Body.StoryId)
}

// SplitStory moves articles to a new story.
func (s *StoryHandler) SplitStory(
	ctx context.Context, r spec.SplitStoryRequestObject,
) (spec.SplitStoryResponseObject, error) {
	id, err := s.Stories.Split(ctx, principal(ctx), r.Id, r.Body.ArticleIds)
	return spec.SplitStory200JSONResponse{StoryId: id}, err
}

// MoveStoryArticles moves articles to another story.
func (s *StoryHandler) MoveStoryArticles(
	ctx context.Context, r spec.MoveStoryArticlesRequestObject,
) (spec.MoveStoryArticlesResponseObject, error) {
	return spec.MoveStoryArticles204Response{}, s.Stories.Move(ctx, principal(ctx), r.Id, r.Body.StoryId,
		r.Body.ArticleIds)
}

// SetStoryHeadline chooses the headline of a story.
func (s *StoryHandler) SetStoryHeadline(
	ctx context.Context, r spec.SetStoryHeadlineRequestObject,
) (spec.SetStoryHeadlineResponseObject, error) {
	return spec.SetStoryHeadline204Response{}, s.Stories.PinHeadline(ctx, principal(ctx), r.Id, r.Body.ArticleId)
}

// MuteStory silences the alert about a story.
func (s *StoryHandler) MuteStory(
	ctx context.Context, r spec.MuteStoryRequestObject,
) (spec.MuteStoryResponseObject, error) {
	return spec.MuteStory204Response{}, s.Stories.Mute(ctx, principal(ctx), r.Id)
}

// CreateStoryDraft creates a draft about a story.
func (s *StoryHandler) CreateStoryDraft(
	ctx context.Context, r spec.CreateStoryDraftRequestObject,
) (spec.CreateStoryDraftResponseObject, error) {
	id, err := s.Stories.CreateDraft(ctx, principal(ctx), r.Id)
	return spec.CreateStoryDraft201JSONResponse{PostId: id}, err
}

// UndoStoryEvent undoes a change of a story.
func (s *StoryHandler) UndoStoryEvent(
	ctx context.Context, r spec.UndoStoryEventRequestObject,
) (spec.UndoStoryEventResponseObject, error) {
	return spec.UndoStoryEvent204Response{}, s.Stories.Undo(ctx, principal(ctx), r.Id)
}

// GetStoryPreferences returns the settings of the workspace about stories.
func (s *StoryHandler) GetStoryPreferences(
	ctx context.Context, _ spec.GetStoryPreferencesRequestObject,
) (spec.GetStoryPreferencesResponseObject, error) {
	p, err := s.Stories.Preferences(ctx, principal(ctx))
	return spec.GetStoryPreferences200JSONResponse(storyPreferencesJSON(p.Preferences)), err
}

// SetStoryPreferences changes the settings of the workspace about stories.
func (s *StoryHandler) SetStoryPreferences(
	ctx context.Context, r spec.SetStoryPreferencesRequestObject,
) (spec.SetStoryPreferencesResponseObject, error) {
	p, err := s.Stories.SetPreferences(ctx, principal(ctx),
		story.Preferences{
			AlertEnabled: r.Body.AlertEnabled, MinOwners: r.Body.MinOwners,
			MaxAgeHours: r.Body.MaxAgeHours,
			CreateDraft: r.Body.CreateDraft, Owners: r.Body.Owners,
		})
	return spec.SetStoryPreferences200JSONResponse(storyPreferencesJSON(p.Preferences)), err
}

func storyPreferencesJSON(p story.Preferences) spec.StoryPreferences {
	return spec.StoryPreferences{
		AlertEnabled: p.AlertEnabled, MinOwners: p.MinOwners, MaxAgeHours: p.MaxAgeHours,
		CreateDraft: p.CreateDraft, Owners: p.Owners,
	}
}

func storyJSON(s story.Summary) spec.Story {
	return spec.Story{
		Id: s.ID, Language: s.Language, FirstSeenAt: s.FirstSeenAt, FirstAt: s.FirstAt, LastAt: s.LastAt,
		Articles: s.Articles, Copies: s.Copies,
		Owners: s.Owners, NewOwners: s.NewOwners, OwnArticles: s.OwnArticles, FollowsId: s.FollowsID,
		Alert: (*spec.StoryAlert)(optional.Of(string(s.Alert))), AlertPostId: s.AlertPostID,
		Headline: spec.StoryHeadline{
			ArticleId: s.Headline.ArticleID, Title: s.Headline.Title, Url: s.Headline.URL,
			Domain:   s.Headline.Domain,
			ImageUrl: optional.Of(s.Headline.ImageURL), Pinned: s.IsPinned,
		},
	}
}

func storyPageJSON(p story.Page) spec.StoryPage {
	out := spec.StoryPage{
		Entries: []spec.StoryEntry{}, Truncated: p.Truncated, Corrections: []spec.StoryCorrection{},
		Posts: []spec.StoryPost{}, Related: []spec.RelatedStory{},
		Events: []spec.StoryEvent{}, Readers: spec.StoryReaders{Views: p.Readers.Views, Visitors: p.Readers.Visitors},
	}
	copyJSON(storyJSON(p.Summary), &out)
	for _, e := range p.Entries {
		one := spec.StoryEntry{
			ArticleId: e.ArticleID, Title: e.Title, Url: e.URL, Domain: e.Domain, Owner: e.Owner,
			Lead: optional.Of(e.Lead), FirstSeenAt: e.FirstSeenAt,
			PublishedAt: e.PublishedAt, Similarity: float32(e.Similarity), NearDuplicate: e.IsCopy, Own: e.IsOwn,
			Pinned: e.IsPinned, Added: append([]string{}, e.Added...),
		}
		if e.PublishedAt != nil {
			one.DateOnly = &e.DateOnly
		}
		if len(e.Live) > 0 {
			live := liveEntriesJSON(e.Live)
			one.LiveEntries = &live
		}
		out.Entries = append(out.Entries, one)
	}
	for _, c := range p.Corrections {
		out.Corrections = append(out.Corrections, spec.StoryCorrection{
			ArticleId: c.ArticleID, Version: c.Version, SeenAt: c.SeenAt, Changed: c.Changed, Title: c.Title,
			PreviousTitle: c.PreviousTitle,
		})
	}
	for _, one := range p.Posts {
		out.Posts = append(out.Posts, spec.StoryPost{
			Id: one.ID, Content: one.Content, Status: one.Status, At: one.At, ArticleId: one.ArticleID,
		})
	}
	for _, r := range p.Related {
		relation := spec.Later
		if r.IsEarlier {
			relation = spec.Earlier
		}
		out.Related = append(out.Related, spec.RelatedStory{
			Id: r.ID, Relation: relation, Title: r.Title, LastAt: r.LastAt, Similarity: float32(r.Similarity),
		})
	}
	for _, e := range p.Events {
		out.Events = append(out.Events, spec.StoryEvent{
			Id: e.ID, Kind: spec.StoryEventKind(e.Kind), StoryId: e.StoryID,
			OtherId: e.OtherID, ArticleIds: e.ArticleIDs,
			Actor: e.Actor, At: e.At, UndoneAt: e.UndoneAt, CanUndo: e.OtherID != nil && e.UndoneAt == nil,
		})
	}
	return out
}
