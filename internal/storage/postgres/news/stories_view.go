package news

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/ingest"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/optional"
	"dateline/internal/news/story"
	"dateline/internal/storage/postgres/news/db"
	"dateline/internal/storage/postgres/tx"
)

// Stories lists stories as a workspace sees them.
func (s *StoryStore) Stories(ctx context.Context, f story.Filter, p story.Preferences) ([]story.Summary, error) {
	return s.stories(ctx, uuid.Nil, f, p)
}

func (s *StoryStore) stories(
	ctx context.Context, id uuid.UUID, f story.Filter, p story.Preferences,
) ([]story.Summary, error) {
	owners, err := json.Marshal(orNoOwners(p.Owners))
	if err != nil {
		return nil, err
	}
	now, err := tx.Time(ctx, s.pool)
	if err != nil {
		return nil, err
	}
	if f.To.IsZero() {
		f.To = now.Add(time.Hour)
	}
	if f.BeforeTime.IsZero() {
		f.BeforeTime, f.BeforeID = now.Add(time.Hour), uuid.Max
	}
	if f.From.IsZero() && f.Order == story.Rising {
		f.From = now.Add(-story.DefaultWindow)
	}
	rows, err := s.q.ListStories(ctx, db.ListStoriesParams{
		WorkspaceID: f.WorkspaceID, Owners: owners, ID: id,
		FromTime: f.From, ToTime: f.To, Language: f.Language,
		RisingSince: now.Add(-story.RisingPeriod), MinOwners: int64(f.MinOwners), Coverage: string(f.Coverage),
		SeenSince: f.SeenSince, Unalerted: f.Unalerted,
		Rising: f.Order == story.Rising, BeforeTime: f.BeforeTime, BeforeID: f.BeforeID, PageSize: f.Limit,
	})
	out := make([]story.Summary, len(rows))
	for i, r := range rows {
		out[i] = story.Summary{
			ID: r.ID, Language: r.Language, IsPinned: r.IsPinned, FirstSeenAt: r.FirstSeenAt.UTC(),
			FirstAt: r.FirstAt.UTC(), LastAt: r.LastAt.UTC(),
			Headline: story.Headline{
				ArticleID: r.HeadlineID, Title: r.Title, URL: r.CanonicalUrl, Domain: r.Domain,
				ImageURL: r.ImageUrl,
			},
			Articles: int(r.Articles), Copies: int(r.Copies), Owners: int(r.Owners), NewOwners: int(r.NewOwners),
			OwnArticles: int(r.OwnArticles),
			FollowsID:   r.FollowsID, Alert: story.AlertState(r.Alert),
		}
		if r.HasDraft {
			out[i].AlertPostID = r.AlertPostID
		}
	}
	return out, err
}

func orNoOwners(owners map[string]string) map[string]string {
	if owners == nil {
		return map[string]string{}
	}
	return owners
}

// StoryLanguage returns the current id of a story and its language, following merges.
func (s *StoryStore) StoryLanguage(
	ctx context.Context, workspaceID, id uuid.UUID,
) (current uuid.UUID, language string, err error) {
	row, err := s.q.GetStoryLanguage(ctx, db.GetStoryLanguageParams{ID: id, WorkspaceID: workspaceID})
	return row.ID, row.Language, tx.OrNotFound(err, "story")
}

// StoryOf returns a story as a workspace sees it, and whether posts link to it. The draft
// of its alert does not count.
func (s *StoryStore) StoryOf(
	ctx context.Context, workspaceID, id uuid.UUID, p story.Preferences,
) (out story.Summary, hasPosts bool, err error) {
	page, err := s.StoryPage(ctx, workspaceID, id, p, maxStoryArticles)
	return page.Summary, len(page.Posts) > 0, err
}

// maxStoryArticles is the number of articles of a story whose posts are searched for.
const maxStoryArticles = 200

// StoryPage returns a story with its articles as a workspace sees it.
func (s *StoryStore) StoryPage(
	ctx context.Context, workspaceID, id uuid.UUID, p story.Preferences, maxEntries int,
) (page story.Page, err error) {
	id, _, err = s.StoryLanguage(ctx, workspaceID, id)
	if err != nil {
		return page, err
	}
	found, err := s.stories(ctx, id, story.Filter{WorkspaceID: workspaceID, Order: story.Latest, Limit: 1}, p)
	if err != nil {
		return page, err
	}
	if len(found) == 0 {
		return page, apperr.NotFound("story")
	}
	page.Summary = found[0]
	if err := s.addEntries(ctx, workspaceID, &page, p, maxEntries); err != nil {
		return page, err
	}
	if err := s.addCoverage(ctx, workspaceID, &page); err != nil {
		return page, err
	}
	if err := s.addRelated(ctx, workspaceID, &page, p); err != nil {
		return page, err
	}
	events, err := s.q.ListStoryEvents(ctx, id)
	for _, e := range events {
		page.Events = append(page.Events, storyEventFromRow(e))
	}
	return page, err
}

func (s *StoryStore) addEntries(
	ctx context.Context, workspaceID uuid.UUID, page *story.Page, p story.Preferences, maxEntries int,
) error {
	owners, err := json.Marshal(orNoOwners(p.Owners))
	if err != nil {
		return err
	}
	rows, err := s.q.ListStoryEntries(ctx, db.ListStoryEntriesParams{
		WorkspaceID: workspaceID, StoryID: page.ID, Owners: owners, PageSize: maxEntries,
	})
	if err != nil {
		return err
	}
	page.Truncated = page.Articles > len(rows)
	for _, r := range rows {
		live, err := liveEntriesFromRow(r.LiveEntries)
		if err != nil {
			return err
		}
		page.Entries = append(page.Entries, story.Entry{
			Live: live, ArticleID: r.ID, GroupID: r.GroupID, Title: r.Title,
			URL: r.CanonicalUrl, Domain: r.Domain, Owner: r.Owner, Lead: r.Lead, Body: r.Body,
			FirstSeenAt: r.FirstSeenAt.UTC(), PublishedAt: optional.UTC(r.PublishedAt), DateOnly: r.DateOnly,
			Similarity: float64(r.Similarity), IsCopy: r.IsCopy, IsOwn: r.IsOwn, IsPinned: r.IsPinned,
		})
	}
	return nil
}

// addCoverage adds corrections, and the posts and readers of the workspace.
func (s *StoryStore) addCoverage(ctx context.Context, workspaceID uuid.UUID, page *story.Page) error {
	ids, urls, hosts, pages := []uuid.UUID{}, []string{}, []string{}, []string{}
	for _, e := range page.Entries {
		ids, urls = append(ids, e.ArticleID), append(urls, e.URL)
		u, err := url.Parse(e.URL)
		name, problem := ingest.PageName(e.URL)
		if e.IsOwn && err == nil && problem == nil {
			hosts, pages = append(hosts, strings.ToLower(u.Hostname())), append(pages, name)
		}
	}
	corrections, err := s.q.ListStoryCorrections(ctx, ids)
	if err != nil {
		return err
	}
	for _, r := range corrections {
		page.Corrections = append(page.Corrections, story.Correction{
			ArticleID: r.ArticleID, Version: r.Version, SeenAt: r.SeenAt.UTC(), Changed: r.Changed, Title: r.Title,
			PreviousTitle: r.PreviousTitle,
		})
	}
	posts, err := s.q.ListStoryPosts(ctx, db.ListStoryPostsParams{
		WorkspaceID: workspaceID, ArticleIds: ids, Urls: urls, Since: page.FirstSeenAt.Add(-24 * time.Hour),
	})
	if err != nil {
		return err
	}
	for _, r := range posts {
		at := r.PostedAt
		if at == nil {
			at = r.ScheduledTime
		}
		page.Posts = append(page.Posts, story.Post{
			ID: r.PostID, Content: r.Content, Status: r.Status, At: optional.UTC(at), ArticleID: r.ArticleID,
		})
	}
	readers, err := s.q.StoryReaders(ctx, db.StoryReadersParams{WorkspaceID: workspaceID, Hosts: hosts, Pages: pages})
	page.Readers = story.Readers{Views: readers.Views, Visitors: readers.Visitors}
	return err
}

// addRelated adds the stories that a workspace sees among those before and after.
func (s *StoryStore) addRelated(
	ctx context.Context, workspaceID uuid.UUID, page *story.Page, p story.Preferences,
) error {
	follows := uuid.Nil
	if page.FollowsID != nil {
		follows = *page.FollowsID
	}
	rows, err := s.q.ListRelatedStories(ctx, db.ListRelatedStoriesParams{ID: page.ID, FollowsID: follows})
	if err != nil {
		return err
	}
	for _, r := range rows {
		found, err := s.stories(ctx, r.ID, story.Filter{WorkspaceID: workspaceID, Order: story.Latest, Limit: 1}, p)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			continue
		}
		similarity := float64(r.FollowsSimilarity)
		page.Related = append(page.Related, story.Related{
			ID: r.ID, IsEarlier: r.IsEarlier, Title: found[0].Headline.Title, LastAt: found[0].LastAt,
			Similarity: similarity,
		})
	}
	return nil
}

// StoryEvent returns an event of a story of which a workspace sees an article.
func (s *StoryStore) StoryEvent(ctx context.Context, workspaceID, id uuid.UUID) (story.Event, error) {
	row, err := s.q.GetStoryEvent(ctx, db.GetStoryEventParams{ID: id, WorkspaceID: workspaceID})
	return storyEventFromRow(row), tx.OrNotFound(err, "story_event")
}

func storyEventFromRow(r db.StoryEvent) story.Event {
	return story.Event{
		ID: r.ID, Language: r.Language, Kind: story.EventKind(r.Kind), StoryID: r.StoryID,
		OtherID: r.OtherID, ArticleIDs: r.ArticleIds,
		Similarity: float64(r.Similarity), Actor: r.Actor, At: r.At.UTC(), UndoneAt: optional.UTC(r.UndoneAt),
		UndoneBy: r.UndoneBy,
	}
}
