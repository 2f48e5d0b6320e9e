package mcp

import (
	"context"
	"errors"
	"time"

	openapi_types "github.com/oapi-codegen/runtime/types"

	"dateline/api/spec"
	"dateline/client"
	"dateline/internal/infra/optional"
)

type nothing struct{}

type postFilter struct {
	Status []string `json:"status,omitempty" jsonschema:"draft, scheduled, publishing, posted, partly_posted, failed or canceled; default: all"`
	From   string   `json:"from,omitempty" jsonschema:"scheduled at or after this time (RFC 3339)"`
	To     string   `json:"to,omitempty" jsonschema:"scheduled before this time (RFC 3339)"`
	Limit  int      `json:"limit,omitempty" jsonschema:"at most 200; default: 50"`
	Cursor string   `json:"cursor,omitempty" jsonschema:"next_cursor of the previous page"`
}

type period struct {
	From string `json:"from" jsonschema:"first time (RFC 3339)"`
	To   string `json:"to" jsonschema:"last time (RFC 3339)"`
}

type report struct {
	Site  string `json:"site" jsonschema:"ID of the site from list_sites"`
	From  string `json:"from" jsonschema:"first day, such as 2026-12-01"`
	To    string `json:"to" jsonschema:"last day, included"`
	By    string `json:"by,omitempty" jsonschema:"page, channel, source, campaign, country, device, browser or os; default: all"`
	Limit int    `json:"limit,omitempty" jsonschema:"rows of each table"`
}

type trend struct {
	Site   string `json:"site,omitempty" jsonschema:"ID of the site from list_sites; default: posts and short links"`
	Window string `json:"window,omitempty" jsonschema:"now, hour or day; default: now"`
	Rising bool   `json:"rising,omitempty" jsonschema:"pages whose views grow, instead of the most viewed"`
}

type page struct {
	Limit int `json:"limit,omitempty" jsonschema:"at most 200; default: 50"`
}

func (t *tools) addQueries() {
	add(t, "whoami", reads, "Show the workspace with its time zone, the role and the scopes of the token.",
		func(ctx context.Context, _ nothing, e client.Edit) (response, error) {
			return checked(t.API.GetMe(ctx, e))
		})
	add(t, "list_accounts", reads, "List the connected accounts on social networks.",
		func(ctx context.Context, _ nothing, e client.Edit) (response, error) {
			return checked(t.API.ListAccounts(ctx, e))
		})
	add(t, "list_posts", reads, "List posts, newest time first.", t.listPosts)
	add(t, "get_post", reads, "Get a post with its targets.",
		func(ctx context.Context, in postID, e client.Edit) (response, error) {
			id, err := parseID("id", in.ID)
			if err != nil {
				return nil, err
			}
			return checked(t.API.GetPost(ctx, id, e))
		})
	add(t, "explain_post", reads, "Explain what happened to a post, in sentences: when it was sent, why it failed, "+
		"who decided.", func(ctx context.Context, in postID, e client.Edit) (response, error) {
		id, err := parseID("id", in.ID)
		if err != nil {
			return nil, err
		}
		return checked(t.API.PostTimeline(ctx, id, &spec.PostTimelineParams{}, e))
	})
	add(t, "post_stats", reads, "Get views, clicks and conversions of a post.",
		func(ctx context.Context, in postID, e client.Edit) (response, error) {
			id, err := parseID("id", in.ID)
			if err != nil {
				return nil, err
			}
			return checked(t.API.PostStats(ctx, id, e))
		})
	add(t, "list_dead_letters", reads, "List targets of posts that failed or are uncertain and need a decision.",
		func(ctx context.Context, in page, e client.Edit) (response, error) {
			return checked(t.API.ListDeadLetters(ctx, &spec.ListDeadLettersParams{Limit: optional.Of(in.Limit)}, e))
		})
	add(t, "suggest_slots", reads, "List the queue slots in a period; those without post_id are free.",
		func(ctx context.Context, in period, e client.Edit) (response, error) {
			from, err := parseTime("from", in.From)
			to, errTo := parseTime("to", in.To)
			if err := errors.Join(err, errTo); err != nil {
				return nil, err
			}
			if from == nil || to == nil {
				return nil, errors.New("from and to are required")
			}
			return checked(t.API.ListQueueSlots(ctx, &spec.ListQueueSlotsParams{From: *from, To: *to}, e))
		})
	add(t, "list_sites", reads, "List the web sites whose readers are counted.",
		func(ctx context.Context, _ nothing, e client.Edit) (response, error) {
			return checked(t.API.ListSites(ctx, e))
		})
	add(t, "site_report", reads, "Report the readers of a site for a range of days.", t.report)
	add(t, "trending", reads, "List the pages that are read most, or that are rising.",
		func(ctx context.Context, in trend, e client.Edit) (response, error) {
			params := spec.TrendingParams{
				Window: optional.Of(spec.TrendingParamsWindow(in.Window)),
				Rising: optional.Of(in.Rising),
			}
			if in.Site != "" {
				id, err := parseID("site", in.Site)
				if err != nil {
					return nil, err
				}
				params.Site = &id
			}
			return checked(t.API.Trending(ctx, &params, e))
		})
}

func (t *tools) listPosts(ctx context.Context, in postFilter, e client.Edit) (response, error) {
	params := spec.ListPostsParams{Limit: optional.Of(in.Limit), Cursor: optional.Of(in.Cursor)}
	for _, s := range in.Status {
		if params.Status == nil {
			params.Status = &[]spec.PostStatus{}
		}
		*params.Status = append(*params.Status, spec.PostStatus(s))
	}
	var err, errTo error
	params.From, err = parseTime("from", in.From)
	params.To, errTo = parseTime("to", in.To)
	if err := errors.Join(err, errTo); err != nil {
		return nil, err
	}
	return checked(t.API.ListPosts(ctx, &params, e))
}

func (t *tools) report(ctx context.Context, in report, e client.Edit) (response, error) {
	id, err := parseID("site", in.Site)
	if err != nil {
		return nil, err
	}
	from, err := time.Parse(time.DateOnly, in.From)
	to, errTo := time.Parse(time.DateOnly, in.To)
	if err != nil || errTo != nil {
		return nil, errors.New("from and to must be days such as 2026-12-01")
	}
	return checked(t.API.SiteReport(ctx, id, &spec.SiteReportParams{
		From: openapi_types.Date{Time: from},
		To:   openapi_types.Date{Time: to},
		By:   optional.Of(spec.ReportTableName(in.By)), Limit: optional.Of(in.Limit),
	}, e))
}
