package report

import (
	"fmt"
	"time"

	"dateline/internal/audience/counter"
	"dateline/internal/infra/apperr"
)

func dayOf(t time.Time) counter.Day {
	y, m, d := t.Date()
	return counter.Day(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / 86400) //nolint:gosec // days of this era
}

// notComputable reports that a report cannot be computed from what is stored.
func notComputable(problem apperr.FieldError) error {
	return &apperr.Error{
		Kind: apperr.KindNotComputable, Code: "report_not_computable", Message: problem.Message,
		Fields: []apperr.FieldError{problem},
	}
}

func (q Query) validate(today counter.Day) error {
	switch {
	case q.From > q.To:
		return apperr.InvalidFields(apperr.FieldError{
			Field: "to", Code: "out_of_range", Message: "Must not be before from.",
		})
	case q.From > today:
		return apperr.InvalidFields(apperr.FieldError{
			Field: "from", Code: "out_of_range", Message: "Must not be in the future.",
		})
	case q.To-q.From >= maxDays:
		return apperr.InvalidFields(apperr.FieldError{
			Field: "from", Code: "out_of_range", Message: fmt.Sprintf("At most %d days.", maxDays),
		})
	case q.By == Hours && q.To-q.From >= 31:
		return apperr.InvalidFields(apperr.FieldError{
			Field: "by", Code: "out_of_range", Message: "At most 31 days by hour.",
		})
	}
	if err := q.Filters.Check(); err != nil {
		return err
	}
	if int(today-q.From) >= q.Filters.MaxDays() && q.Filters.pageDimension().Name != "" {
		return notComputable(apperr.Field("from", "page_dimensions_expired", "Views of pages by country and device "+
			"are retained for {days} days. Choose a later start, or remove a filter.", PageDimensionDays))
	}
	if q.By == "" {
		return nil
	}
	if gap := q.unavailable(q.By, today); gap != nil {
		return notComputable(apperr.FieldError{Field: "by", Code: "not_computable", Message: gap.Reason})
	}
	return nil
}

// Reasons why a table cannot be computed.
const (
	gapPageOnly       = "page_only"
	gapNoHours        = "no_hours"
	gapTwoDimensions  = "two_dimensions"
	gapPageDimensions = "page_dimensions"
	gapExpired        = "expired"
	gapArticlePages   = "article_pages"
	gapEventOnly      = "event_only"
	gapEventTables    = "event_tables"
)

// unavailable returns why a table cannot be computed; nil if it can.
func (q Query) unavailable(t Table, today counter.Day) *Unavailable {
	fs := q.Filters
	switch {
	case len(fs) == 0:
		if t == Properties {
			return &Unavailable{t, gapEventOnly, "Properties are counted by event; add filter=event:…."}
		}
		if t == Referrers {
			return &Unavailable{t, gapPageOnly, "Referrers are counted by page; add filter=page:… or use by=sources."}
		}
		return nil
	case t == Hours:
		return &Unavailable{t, gapNoHours, "Hours are not counted by page or dimension in reports; use by=days."}
	case t.isTime():
		return nil
	case fs.has(EventFilter):
		if t == Properties {
			return nil
		}
		return &Unavailable{
			t, gapEventTables, "Events are counted by property only. Use by=properties, by=days or by=months, or " +
				"remove the filter.",
		}
	case t == Pages && fs.isOfPages(), t.dimension() != "" && fs.has(t.dimension()):
		return nil
	case fs.hasArticles() && !fs.has(PageFilter):
		return &Unavailable{
			t, gapArticlePages, "The views of an author, section or tag are counted by page only. Use by=pages, " +
				"by=days or by=months, or remove the filter.",
		}
	case !fs.has(PageFilter) || fs.pageDimension().Name != "":
		return &Unavailable{
			t, gapTwoDimensions, "Visits are counted by one dimension at a time, without stored readers, so two " +
				"dimensions cannot be combined. Remove the filter, or use by=days or by=months.",
		}
	case t != Countries && t != Devices && t != Referrers:
		return &Unavailable{
			t, gapPageDimensions, "A page's views are counted by country, device and referrer only. Use one of " +
				"these, or by=days or by=months, or remove the filter.",
		}
	case today-q.From >= counter.Day(PageDimensionDays):
		return &Unavailable{
			t, gapExpired, fmt.Sprintf("Countries, devices and referrers of a page are retained for %d days. Choose "+
				"a later start.", PageDimensionDays),
		}
	default:
		return nil
	}
}
