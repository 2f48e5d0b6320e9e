package api

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/infra/optional"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/seeds"
	"dateline/internal/news/crawl/warc"
)

// CrawlHandler serves seeds and domains.
type CrawlHandler struct {
	Crawl    *seeds.Service
	Archives *warc.Exporter // of crawled pages
	Log      *slog.Logger
}

// ListSeeds lists seeds.
func (s *CrawlHandler) ListSeeds(
	ctx context.Context, r spec.ListSeedsRequestObject,
) (spec.ListSeedsResponseObject, error) {
	limit := defaultPage
	if r.Params.Limit != nil {
		limit = *r.Params.Limit
	}
	all, err := s.Crawl.List(ctx, principal(ctx),
		optional.Value(r.Params.Domain), optional.Value(r.Params.Cursor), limit+1)
	if err != nil {
		return nil, err
	}
	out := spec.ListSeeds200JSONResponse{Seeds: []spec.Seed{}}
	if len(all) > limit {
		all = all[:limit]
		out.NextCursor = optional.Of(all[limit-1].ID.String())
	}
	for _, n := range all {
		out.Seeds = append(out.Seeds, seedJSON(n))
	}
	return out, nil
}

// CreateSeed creates a seed.
func (s *CrawlHandler) CreateSeed(
	ctx context.Context, r spec.CreateSeedRequestObject,
) (spec.CreateSeedResponseObject, error) {
	key, err := idempotencyOf(ctx, r.Params.IdempotencyKey, "seed", r.Body)
	if err != nil {
		return nil, err
	}
	b := r.Body
	n, replayed, err := s.Crawl.Create(ctx, principal(ctx), seeds.Draft{
		URL: b.Url, Kind: crawl.Kind(optional.Value(b.Kind)),
		Title: optional.Value(b.Title), Paused: optional.Value(b.Status) == "paused",
		Priority: b.Priority, MinInterval: span(b.MinIntervalSeconds), MaxInterval: span(b.MaxIntervalSeconds),
		Allow: optional.Value(b.Allow), Deny: optional.Value(b.Deny),
		MaxDepth: b.MaxDepth, DailyBudget: b.DailyBudget,
	}, key)
	if err != nil {
		return nil, err
	}
	location, tag := "/api/v1/seeds/"+n.ID.String(), seedTag(n)
	return spec.CreateSeed201JSONResponse{
		Body: seedJSON(n),
		Headers: spec.CreateSeed201ResponseHeaders{
			Location: &location, ETag: &tag,
			IdempotentReplayed: ifReplayed(replayed),
		},
	}, nil
}

// ImportSeeds imports seeds from a list.
func (s *CrawlHandler) ImportSeeds(
	ctx context.Context, r spec.ImportSeedsRequestObject,
) (spec.ImportSeedsResponseObject, error) {
	lines, err := s.Crawl.Import(ctx, principal(ctx), seeds.Format(r.Body.Format), r.Body.Text,
		crawl.Kind(optional.Value(r.Body.Kind)))
	if err != nil {
		return nil, err
	}
	out := spec.SeedImportResult{}
	out.Lines = make([]struct {
		Id      *uuid.UUID                        `json:"id,omitempty"` //nolint:revive // as it is generated
		Line    int                               `json:"line"`
		Outcome spec.SeedImportResultLinesOutcome `json:"outcome"`
		Problem *spec.FieldProblem                `json:"problem,omitempty"`
		Url     string                            `json:"url"` //nolint:revive // as it is generated
	}, len(lines))
	for i, l := range lines {
		line := &out.Lines[i]
		line.Line, line.Url, line.Outcome, line.Id = l.Number, l.URL, spec.SeedImportResultLinesOutcome(l.Outcome),
			optional.Of(l.ID)
		if l.Problem.Code != "" {
			line.Problem = &spec.FieldProblem{
				Field: l.Problem.Field, Code: l.Problem.Code, Message: l.Problem.Message,
				Params: messageParams(l.Problem.Params),
			}
		}
		switch l.Outcome {
		case seeds.Created:
			out.Created++
		case seeds.Existing:
			out.Existing++
		default:
			out.Invalid++
		}
	}
	return spec.ImportSeeds200JSONResponse(out), nil
}

// GetSeed returns a seed.
func (s *CrawlHandler) GetSeed(ctx context.Context, r spec.GetSeedRequestObject) (spec.GetSeedResponseObject, error) {
	n, err := s.Crawl.Get(ctx, principal(ctx), r.Id)
	tag := seedTag(n)
	return spec.GetSeed200JSONResponse{Body: seedJSON(n), Headers: spec.GetSeed200ResponseHeaders{ETag: &tag}}, err
}

// UpdateSeed updates a seed.
func (s *CrawlHandler) UpdateSeed(
	ctx context.Context, r spec.UpdateSeedRequestObject,
) (spec.UpdateSeedResponseObject, error) {
	version, err := versionOf(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	b := r.Body
	patch := seeds.Patch{
		Title: b.Title, Priority: b.Priority, MinInterval: span(b.MinIntervalSeconds),
		MaxInterval: span(b.MaxIntervalSeconds),
		Allow:       b.Allow, Deny: b.Deny, MaxDepth: b.MaxDepth, DailyBudget: b.DailyBudget,
	}
	if b.Kind != nil {
		kind := crawl.Kind(*b.Kind)
		patch.Kind = &kind
	}
	if b.Status != nil {
		status := crawl.SeedStatus(*b.Status)
		patch.Status = &status
	}
	n, err := s.Crawl.Update(ctx, principal(ctx), r.Id, version, patch)
	tag := seedTag(n)
	return spec.UpdateSeed200JSONResponse{Body: seedJSON(n), Headers: spec.UpdateSeed200ResponseHeaders{ETag: &tag}},
		err
}

// DeleteSeed deletes a seed.
func (s *CrawlHandler) DeleteSeed(
	ctx context.Context, r spec.DeleteSeedRequestObject,
) (spec.DeleteSeedResponseObject, error) {
	return spec.DeleteSeed204Response{}, s.Crawl.Delete(ctx, principal(ctx), r.Id)
}

func span(seconds *int) *time.Duration {
	if seconds == nil {
		return nil
	}
	d := time.Duration(*seconds) * time.Second
	return &d
}

func seedTag(n crawl.Seed) string { return `"` + strconv.FormatInt(n.Version, 10) + `"` }

func seedJSON(n crawl.Seed) spec.Seed {
	return spec.Seed{
		Id: n.ID, Url: n.URL.String(), Domain: n.URL.Domain(), Kind: spec.SeedKind(n.Kind), Title: n.Title,
		Status:   spec.SeedStatus(n.Status),
		Priority: n.Priority, MinIntervalSeconds: int(n.MinInterval.Seconds()),
		MaxIntervalSeconds: int(n.MaxInterval.Seconds()), IntervalSeconds: int(n.Interval.Seconds()),
		Allow: append([]string{}, n.Rules.Allow...), Deny: append([]string{}, n.Rules.Deny...),
		MaxDepth: n.Rules.MaxDepth, DailyBudget: n.Rules.DailyBudget,
		NextCrawl: n.NextCrawl.UTC(), LastCrawl: n.LastCrawl, LastFound: n.LastFound,
		LastError: optionalNote(crawl.Problem(n.LastError, 0)), CreatedAt: n.CreatedAt.UTC(),
		UpdatedAt: n.UpdatedAt.UTC(),
	}
}
