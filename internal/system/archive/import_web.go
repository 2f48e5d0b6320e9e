package archive

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/site"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/seeds"
)

func (i *importer) links(ctx context.Context) error {
	return i.each(Links, func(row map[string]any) error {
		i.setOwner(row)
		for _, k := range []string{"post_id", "account_id"} {
			row[k] = i.importedID(row[k])
		}
		if row["post_id"] == nil {
			row["account_id"] = nil
		}
		ok, err := i.add(ctx, Links, LinkRows, row)
		if err == nil && !ok {
			i.skip("short link %v: the code already exists", row["code"])
		}
		return err
	})
}

func (i *importer) sites(ctx context.Context) error {
	if i.Sites == nil {
		return nil
	}
	existing, err := i.Sites.List(ctx, i.Who)
	if err != nil {
		return err
	}
	return i.each(Sites, func(row map[string]any) error {
		var s struct {
			Name          string   `json:"name"`
			Domains       []string `json:"domains"`
			TimeZone      string   `json:"time_zone"`
			WindowSeconds int      `json:"window_seconds"`
			UniqueMethod  string   `json:"unique_method"`
			MaxID         int64    `json:"max_id"`
			RateHits      int      `json:"rate_hits"`
			RateSeconds   int      `json:"rate_seconds"`
			Visitors      string   `json:"visitors"`
			WeeklyUniques bool     `json:"weekly_uniques"`
			PublicCounts  bool     `json:"public_counts"`
		}
		if err := remarshal(row, &s); err != nil {
			return err
		}
		for _, h := range existing {
			if h.Name == s.Name && strings.Join(h.Domains, ",") == strings.Join(s.Domains, ",") {
				return nil
			}
		}
		_, _, _, err := i.Sites.Create(ctx, i.Who, site.Site{
			Name: s.Name, Domains: s.Domains, TimeZone: s.TimeZone,
			WindowSeconds: s.WindowSeconds, UniqueMethod: counter.UniqueMethod(s.UniqueMethod),
			MaxID: s.MaxID, RateHits: s.RateHits, RateSeconds: s.RateSeconds, Visitors: site.VisitorMode(s.Visitors),
			WeeklyUniques: s.WeeklyUniques, PublicCounts: s.PublicCounts,
		}, idempotency.Key{})
		var refused *apperr.Error
		if errors.As(err, &refused) {
			i.skip("site %s: %s", s.Name, refused.Message)
			return nil
		}
		if err == nil {
			i.done.Added[Sites]++
		}
		return err
	})
}

func (i *importer) seeds(ctx context.Context) error {
	if i.Seeds == nil {
		return nil
	}
	return i.each(Seeds, func(row map[string]any) error {
		var s struct {
			URL      string   `json:"url"`
			Kind     string   `json:"kind"`
			Title    string   `json:"title"`
			Status   string   `json:"status"`
			Priority int      `json:"priority"`
			Min      int      `json:"min_interval_seconds"`
			Max      int      `json:"max_interval_seconds"`
			Allow    []string `json:"allow"`
			Deny     []string `json:"deny"`
			Depth    int      `json:"max_depth"`
			Budget   int      `json:"daily_budget"`
		}
		if err := remarshal(row, &s); err != nil {
			return err
		}
		minimum, maximum := time.Duration(s.Min)*time.Second, time.Duration(s.Max)*time.Second
		_, _, err := i.Seeds.Create(ctx, i.Who, seeds.Draft{
			URL: s.URL, Kind: crawl.Kind(s.Kind), Title: s.Title,
			Paused: s.Status == "paused", Priority: &s.Priority,
			MinInterval: &minimum, MaxInterval: &maximum, Allow: s.Allow, Deny: s.Deny, MaxDepth: &s.Depth,
			DailyBudget: &s.Budget,
		}, idempotency.Key{})
		var refused *apperr.Error
		switch {
		case errors.As(err, &refused) && refused.Code == "seed_exists":
			return nil
		case errors.As(err, &refused):
			i.skip("seed %s: %s", s.URL, refused.Message)
			return nil
		case err == nil:
			i.done.Added[Seeds]++
		}
		return err
	})
}

func remarshal(row map[string]any, into any) error {
	raw, err := json.Marshal(row)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}
