package client

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/google/uuid"

	"dateline/api/spec"
)

// The operations that Dateline calls itself, by their operationId. Lists in the query are repeated
// (domain=a&domain=b) unless the path names them as in RFC 6570: {?status} is status=a,b.

// CancelPost cancels a post that is not published yet.
func (c *Client) CancelPost(
	ctx context.Context, id uuid.UUID, params *spec.CancelPostParams, edits ...Edit,
) (*Response[spec.Post], error) {
	return call[spec.Post](ctx, c, request{http.MethodDelete, "/api/v1/posts/{id}", id, params, nil}, edits)
}

// Concurrents counts who reads a site now.
func (c *Client) Concurrents(
	ctx context.Context, id uuid.UUID, edits ...Edit,
) (*Response[spec.Concurrents], error) {
	return call[spec.Concurrents](ctx, c,
		request{http.MethodGet, "/api/v1/sites/{id}/concurrents", id, nil, nil}, edits)
}

// CreatePost creates a post.
func (c *Client) CreatePost(
	ctx context.Context, params *spec.CreatePostParams, body spec.PostCreate, edits ...Edit,
) (*Response[spec.Created], error) {
	return call[spec.Created](ctx, c, request{http.MethodPost, "/api/v1/posts", uuid.Nil, params, body}, edits)
}

// CreateSeed adds a source to crawl.
func (c *Client) CreateSeed(
	ctx context.Context, params *spec.CreateSeedParams, body spec.SeedCreate, edits ...Edit,
) (*Response[spec.Seed], error) {
	return call[spec.Seed](ctx, c, request{http.MethodPost, "/api/v1/seeds", uuid.Nil, params, body}, edits)
}

// EditPost changes a post that is not published yet.
func (c *Client) EditPost(
	ctx context.Context, id uuid.UUID, params *spec.EditPostParams, body spec.PostEdit, edits ...Edit,
) (*Response[spec.Post], error) {
	return call[spec.Post](ctx, c, request{http.MethodPatch, "/api/v1/posts/{id}", id, params, body}, edits)
}

// FetchMedia fetches media from a URL.
func (c *Client) FetchMedia(
	ctx context.Context, params *spec.FetchMediaParams, body spec.MediaFetch, edits ...Edit,
) (*Response[spec.MediaCreated], error) {
	return call[spec.MediaCreated](ctx, c,
		request{http.MethodPost, "/api/v1/media/fetch", uuid.Nil, params, body}, edits)
}

// GetArticle returns an article with its text.
func (c *Client) GetArticle(ctx context.Context, id uuid.UUID, edits ...Edit) (*Response[spec.Article], error) {
	return call[spec.Article](ctx, c, request{http.MethodGet, "/api/v1/articles/{id}", id, nil, nil}, edits)
}

// GetMe returns whose token it is.
func (c *Client) GetMe(ctx context.Context, edits ...Edit) (*Response[spec.Me], error) {
	return call[spec.Me](ctx, c, request{http.MethodGet, "/api/v1/me", uuid.Nil, nil, nil}, edits)
}

// GetPost returns a post with its targets.
func (c *Client) GetPost(ctx context.Context, id uuid.UUID, edits ...Edit) (*Response[spec.Post], error) {
	return call[spec.Post](ctx, c, request{http.MethodGet, "/api/v1/posts/{id}", id, nil, nil}, edits)
}

// ListAccounts lists connected accounts.
func (c *Client) ListAccounts(ctx context.Context, edits ...Edit) (*Response[spec.AccountList], error) {
	return call[spec.AccountList](ctx, c, request{http.MethodGet, "/api/v1/accounts", uuid.Nil, nil, nil}, edits)
}

// ListDeadLetters lists targets that need a decision.
func (c *Client) ListDeadLetters(
	ctx context.Context, params *spec.ListDeadLettersParams, edits ...Edit,
) (*Response[spec.DeadLetterPage], error) {
	return call[spec.DeadLetterPage](ctx, c,
		request{http.MethodGet, "/api/v1/dead-letters{?reason,network}", uuid.Nil, params, nil}, edits)
}

// ListDomains lists crawled domains.
func (c *Client) ListDomains(
	ctx context.Context, params *spec.ListDomainsParams, edits ...Edit,
) (*Response[spec.DomainPage], error) {
	return call[spec.DomainPage](ctx, c, request{http.MethodGet, "/api/v1/domains", uuid.Nil, params, nil}, edits)
}

// ListPosts lists posts.
func (c *Client) ListPosts(
	ctx context.Context, params *spec.ListPostsParams, edits ...Edit,
) (*Response[spec.PostPage], error) {
	return call[spec.PostPage](ctx, c,
		request{http.MethodGet, "/api/v1/posts{?status,approval}", uuid.Nil, params, nil}, edits)
}

// ListQueueSlots lists the slots of a period.
func (c *Client) ListQueueSlots(
	ctx context.Context, params *spec.ListQueueSlotsParams, edits ...Edit,
) (*Response[json.RawMessage], error) {
	return call[json.RawMessage](ctx, c, request{http.MethodGet, "/api/v1/queue-slots", uuid.Nil, params, nil}, edits)
}

// ListRuleDecisions lists what rules decided about articles.
func (c *Client) ListRuleDecisions(
	ctx context.Context, params *spec.ListRuleDecisionsParams, edits ...Edit,
) (*Response[spec.RuleDecisionList], error) {
	return call[spec.RuleDecisionList](ctx, c,
		request{http.MethodGet, "/api/v1/rule-decisions", uuid.Nil, params, nil}, edits)
}

// ListRules lists rules.
func (c *Client) ListRules(ctx context.Context, edits ...Edit) (*Response[spec.RuleList], error) {
	return call[spec.RuleList](ctx, c, request{http.MethodGet, "/api/v1/rules", uuid.Nil, nil, nil}, edits)
}

// ListSeeds lists seeds of the crawler.
func (c *Client) ListSeeds(
	ctx context.Context, params *spec.ListSeedsParams, edits ...Edit,
) (*Response[spec.SeedPage], error) {
	return call[spec.SeedPage](ctx, c, request{http.MethodGet, "/api/v1/seeds", uuid.Nil, params, nil}, edits)
}

// ListSites lists counted sites.
func (c *Client) ListSites(ctx context.Context, edits ...Edit) (*Response[spec.SiteList], error) {
	return call[spec.SiteList](ctx, c, request{http.MethodGet, "/api/v1/sites", uuid.Nil, nil, nil}, edits)
}

// ParseTime parses a time such as "tomorrow 9:00".
func (c *Client) ParseTime(
	ctx context.Context, params *spec.ParseTimeParams, edits ...Edit,
) (*Response[spec.ParsedTime], error) {
	return call[spec.ParsedTime](ctx, c, request{http.MethodGet, "/api/v1/time", uuid.Nil, params, nil}, edits)
}

// PauseRule pauses a rule.
func (c *Client) PauseRule(ctx context.Context, id uuid.UUID, edits ...Edit) (*Response[spec.OneRule], error) {
	return call[spec.OneRule](ctx, c, request{http.MethodPost, "/api/v1/rules/{id}/pause", id, nil, nil}, edits)
}

// PostStats returns views, clicks and conversions of a post.
func (c *Client) PostStats(ctx context.Context, id uuid.UUID, edits ...Edit) (*Response[spec.PostStats], error) {
	return call[spec.PostStats](ctx, c, request{http.MethodGet, "/api/v1/posts/{id}/stats", id, nil, nil}, edits)
}

// PostTimeline explains what happened to a post.
func (c *Client) PostTimeline(
	ctx context.Context, id uuid.UUID, params *spec.PostTimelineParams, edits ...Edit,
) (*Response[spec.Timeline], error) {
	return call[spec.Timeline](ctx, c, request{http.MethodGet, "/api/v1/posts/{id}/timeline", id, params, nil}, edits)
}

// PreviewPost shows what networks would get.
func (c *Client) PreviewPost(
	ctx context.Context, body spec.PreviewedPost, edits ...Edit,
) (*Response[spec.PostPreview], error) {
	return call[spec.PostPreview](ctx, c, request{http.MethodPost, "/api/v1/posts/preview", uuid.Nil, nil, body}, edits)
}

// PreviewRule shows what a rule would have posted.
func (c *Client) PreviewRule(
	ctx context.Context, body spec.RuleCreate, edits ...Edit,
) (*Response[spec.RulePreview], error) {
	return call[spec.RulePreview](ctx, c, request{http.MethodPost, "/api/v1/rules/preview", uuid.Nil, nil, body}, edits)
}

// PublishNow publishes a scheduled post or a draft at once.
func (c *Client) PublishNow(
	ctx context.Context, id uuid.UUID, params *spec.PublishNowParams, edits ...Edit,
) (*Response[spec.Post], error) {
	return call[spec.Post](ctx, c, request{http.MethodPost, "/api/v1/posts/{id}/publish-now", id, params, nil}, edits)
}

// ResumeRule resumes a paused rule.
func (c *Client) ResumeRule(ctx context.Context, id uuid.UUID, edits ...Edit) (*Response[spec.OneRule], error) {
	return call[spec.OneRule](ctx, c, request{http.MethodPost, "/api/v1/rules/{id}/resume", id, nil, nil}, edits)
}

// RetryPost publishes failed targets again.
func (c *Client) RetryPost(
	ctx context.Context, id uuid.UUID, params *spec.RetryPostParams, body spec.TargetChoice, edits ...Edit,
) (*Response[spec.Post], error) {
	return call[spec.Post](ctx, c, request{http.MethodPost, "/api/v1/posts/{id}/retry", id, params, body}, edits)
}

// SearchArticles searches articles.
func (c *Client) SearchArticles(
	ctx context.Context, params *spec.SearchArticlesParams, edits ...Edit,
) (*Response[spec.SearchResponse], error) {
	return call[spec.SearchResponse](ctx, c, request{http.MethodGet, "/api/v1/search", uuid.Nil, params, nil}, edits)
}

// SimilarArticles lists near-duplicates of an article.
func (c *Client) SimilarArticles(
	ctx context.Context, id uuid.UUID, params *spec.SimilarArticlesParams, edits ...Edit,
) (*Response[spec.SimilarArticles], error) {
	return call[spec.SimilarArticles](ctx, c,
		request{http.MethodGet, "/api/v1/articles/{id}/similar", id, params, nil}, edits)
}

// SiteReport reports the readers of a site.
func (c *Client) SiteReport(
	ctx context.Context, id uuid.UUID, params *spec.SiteReportParams, edits ...Edit,
) (*Response[spec.SiteReport], error) {
	return call[spec.SiteReport](ctx, c, request{http.MethodGet, "/api/v1/sites/{id}/report", id, params, nil}, edits)
}

// SubmitPost submits a post for approval.
func (c *Client) SubmitPost(
	ctx context.Context, id uuid.UUID, params *spec.SubmitPostParams, edits ...Edit,
) (*Response[spec.Post], error) {
	return call[spec.Post](ctx, c, request{http.MethodPost, "/api/v1/posts/{id}/submit", id, params, nil}, edits)
}

// Trending lists pages that are read most, or rising.
func (c *Client) Trending(
	ctx context.Context, params *spec.TrendingParams, edits ...Edit,
) (*Response[spec.TrendingList], error) {
	return call[spec.TrendingList](ctx, c, request{http.MethodGet, "/api/v1/trending", uuid.Nil, params, nil}, edits)
}

// UploadMedia uploads a file.
func (c *Client) UploadMedia(
	ctx context.Context, params *spec.UploadMediaParams, body Form, edits ...Edit,
) (*Response[spec.MediaCreated], error) {
	return call[spec.MediaCreated](ctx, c, request{http.MethodPost, "/api/v1/media", uuid.Nil, params, body}, edits)
}

func (c *Client) postEvents(ctx context.Context, id uuid.UUID, params *spec.PostEventsParams) (*http.Response, error) {
	return c.send(ctx, request{http.MethodGet, "/api/v1/posts/{id}/events", id, params, nil})
}

func (c *Client) workspaceEvents(ctx context.Context, params *spec.WorkspaceEventsParams) (*http.Response, error) {
	return c.send(ctx, request{http.MethodGet, "/api/v1/events", uuid.Nil, params, nil})
}
