package remote

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	openapi_types "github.com/oapi-codegen/runtime/types"
	"github.com/spf13/cobra"

	"dateline/api/spec"
	"dateline/internal/infra/timezone"
)

func (o Options) accounts() *cobra.Command {
	c := &cobra.Command{Use: "accounts", Short: "list the connected accounts", Args: cobra.NoArgs}
	return withList(o.connected(c, func(ctx context.Context, s *session, _ []string) error {
		r, err := s.ListAccounts(ctx)
		if err != nil {
			return err
		}
		if s.asJSON {
			return s.printJSON(r.Body)
		}
		var rows [][]string
		for _, a := range r.Value.Accounts {
			isDefault := ""
			if a.Default {
				isDefault = "yes"
			}
			rows = append(rows, []string{
				a.Id.String(), a.Network, a.Handle, shorten(accountName(a), 30), string(a.Status), isDefault,
			})
		}
		return s.printList([]string{"id", "network", "handle", "name", "status", "default"}, rows,
			"No accounts. Connect one in the dashboard under Accounts.")
	}))
}

// sites groups the commands for counted sites.
func (o Options) sites() *cobra.Command {
	group := Group("sites", "list counted sites and report their readers")
	list := &cobra.Command{Use: "list", Short: "list the sites", Args: cobra.NoArgs}
	group.AddCommand(o.siteReport(), o.connected(list, func(ctx context.Context, s *session, _ []string) error {
		r, err := s.ListSites(ctx)
		if err != nil {
			return err
		}
		if s.asJSON {
			return s.printJSON(r.Body)
		}
		var rows [][]string
		for _, one := range r.Value.Sites {
			rows = append(rows, []string{one.Id.String(), one.Name, strings.Join(one.Domains, ", ")})
		}
		return s.printList([]string{"id", "name", "domains"}, rows, "No sites. Add one in the dashboard under Readers.")
	}))
	return group
}

func (o Options) siteReport() *cobra.Command {
	c := &cobra.Command{
		Use: "report SITE", Short: "report the readers of a site", Args: cobra.ExactArgs(1),
		ValidArgsFunction: o.completeSites,
		Long:              "Reports the readers of a site: its name, one of its domains or its ID.",
		Example:           "  dateline sites report example.com --days 7 --by page",
	}
	f := c.Flags()
	f.Int("days", 7, "`number` of days up to today")
	f.String("by", "page", "`table` to show: page, channel, source, campaign, country, device, browser or os")
	f.Int("limit", 20, "maximum `number` of rows")
	_ = c.RegisterFlagCompletionFunc("by",
		cobra.FixedCompletions([]string{"page", "channel", "source", "campaign", "country", "device", "browser", "os"},
			cobra.ShellCompDirectiveNoFileComp))
	return o.connected(c, func(ctx context.Context, s *session, args []string) error {
		all, err := s.ListSites(ctx)
		if err != nil {
			return err
		}
		one, err := findSite(all.Value.Sites, args[0])
		if err != nil {
			return err
		}
		zone, err := timezone.Load(one.TimeZone)
		if err != nil {
			return err
		}
		days, _ := f.GetInt("days")
		limit, _ := f.GetInt("limit")
		by, _ := f.GetString("by")
		today := time.Now().In(zone)
		if days < 1 {
			return UsageError("--days must be at least 1")
		}
		r, err := s.SiteReport(ctx, one.Id,
			&spec.SiteReportParams{
				From: openapi_types.Date{Time: today.AddDate(0, 0, 1-days)},
				To:   openapi_types.Date{Time: today}, By: set(spec.ReportTableName(by)), Limit: &limit,
			})
		if err != nil {
			return err
		}
		if s.asJSON {
			return s.printJSON(r.Body)
		}
		totals := r.Value.Period.Totals
		_ = s.say("%s, %s to %s: %s views, %s visitors, %s visits, bounce rate %s\n", plain(one.Name),
			r.Value.Period.From, r.Value.Period.To,
			number(totals.Views), number(totals.Visitors), number(totals.Visits), percent(totals.BounceRate))
		for _, t := range r.Value.Tables {
			var rows [][]string
			for _, row := range t.Rows {
				rows = append(rows, []string{
					shorten(row.Value, 70), number(row.Totals.Views), number(row.Totals.Visitors),
					number(row.Totals.Visits),
				})
			}
			if err := table(s.out, []string{string(t.By), "views", "visitors", "visits"}, rows); err != nil {
				return err
			}
		}
		return nil
	})
}

func findSite(all []spec.Site, name string) (spec.Site, error) {
	for _, one := range all {
		if one.Id.String() == name || strings.EqualFold(one.Name, name) {
			return one, nil
		}
		for _, d := range one.Domains {
			if strings.EqualFold(d, name) {
				return one, nil
			}
		}
	}
	return spec.Site{}, fmt.Errorf("site %q: %w; `dateline sites list` lists all", name, errNotFound)
}

// articles groups the commands for crawled articles.
func (o Options) articles() *cobra.Command {
	group := Group("articles", "search crawled articles")
	c := &cobra.Command{
		Use: "search [QUERY]", Short: "search articles; without a query, list the newest",
		Args: cobra.MaximumNArgs(1),
	}
	f := c.Flags()
	f.StringSlice("domain", nil, "only articles of this `domain`")
	f.StringSlice("language", nil, "only articles in this `language`, an ISO 639-1 code")
	f.String("sort", "", "`order`: relevance or time")
	f.Int("limit", 20, "maximum `number` of articles, at most 100")
	_ = c.RegisterFlagCompletionFunc("domain", o.completeDomains)
	_ = c.RegisterFlagCompletionFunc("sort",
		cobra.FixedCompletions([]string{"relevance", "time"}, cobra.ShellCompDirectiveNoFileComp))
	group.AddCommand(o.connected(c, func(ctx context.Context, s *session, args []string) error {
		params := spec.SearchArticlesParams{}
		if len(args) > 0 {
			params.Q = &args[0]
		}
		if domains, _ := f.GetStringSlice("domain"); len(domains) > 0 {
			params.Domain = &domains
		}
		if languages, _ := f.GetStringSlice("language"); len(languages) > 0 {
			params.Language = &languages
		}
		order, _ := f.GetString("sort")
		params.Sort = set(spec.SearchArticlesParamsSort(order))
		limit, _ := f.GetInt("limit")
		params.Limit = &limit
		r, err := s.SearchArticles(ctx, &params)
		if err != nil {
			return err
		}
		if s.asJSON {
			return s.printJSON(r.Body)
		}
		zone, err := s.zone(ctx)
		if err != nil {
			return err
		}
		var rows [][]string
		for _, h := range r.Value.Hits {
			rows = append(rows, []string{at(&h.PublishedAt, zone), h.Domain, shorten(h.Title, 70), h.Url})
		}
		return s.printList([]string{"published", "domain", "title", "url"}, rows, "No articles found.")
	}))
	return group
}

// sources groups the commands for the seeds of the crawler.
func (o Options) sources() *cobra.Command {
	c := &cobra.Command{Use: "sources", Short: "list the seeds of the crawler", Args: cobra.NoArgs}
	domain := c.Flags().String("domain", "", "only seeds of this `domain`")
	_ = c.RegisterFlagCompletionFunc("domain", o.completeDomains)
	list := withList(o.connected(c, func(ctx context.Context, s *session, _ []string) error {
		limit := 200
		r, err := s.ListSeeds(ctx, &spec.ListSeedsParams{Domain: set(*domain), Limit: &limit})
		if err != nil {
			return err
		}
		if s.asJSON {
			return s.printJSON(r.Body)
		}
		zone, err := s.zone(ctx)
		if err != nil {
			return err
		}
		var rows [][]string
		for _, one := range r.Value.Seeds {
			rows = append(rows, []string{
				one.Id.String(), one.Domain, string(one.Kind), string(one.Status),
				strconv.Itoa(one.IntervalSeconds/60) + " min", at(one.LastCrawl, zone), one.Url,
				shorten(noteText(one.LastError), 40),
			})
		}
		return s.printList([]string{"id", "domain", "kind", "status", "interval", "last crawl", "url", "error"}, rows,
			"No seeds. Add one with `dateline sources add URL`.")
	}))
	add := &cobra.Command{
		Use: "add URL", Short: "add a seed: a feed, a sitemap or a page with links to articles",
		Args: cobra.ExactArgs(1),
	}
	list.AddCommand(o.connected(add, func(ctx context.Context, s *session, args []string) error {
		r, err := s.CreateSeed(ctx, &spec.CreateSeedParams{IdempotencyKey: idempotencyKey()}, spec.SeedCreate{
			Url: args[0],
		})
		if err != nil {
			return err
		}
		if s.asJSON {
			return s.printJSON(r.Body)
		}
		return s.say("Added %s (%s), ID %s.", plain(r.Value.Url), r.Value.Kind, r.Value.Id)
	}))
	return list
}
