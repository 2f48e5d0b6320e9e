package report

import (
	"slices"
	"strings"

	"dateline/internal/audience/counter"
	"dateline/internal/infra/apperr"
)

// Filter restricts a report to pages or to values of a dimension. A report counts what has one of the values.
type Filter struct {
	Name   string
	Values []string
}

// Names of filters that are not dimensions of visits.
const (
	PageFilter    = "page"
	AuthorFilter  = "author" // these are what articles are grouped by
	SectionFilter = "section"
	TagFilter     = "tag"
	EventFilter   = "event"
)

// Filters restrict a report to what matches all of them. Each name is in it once.
type Filters []Filter

// FilterNames lists the names of all filters.
func FilterNames() []string {
	return []string{
		PageFilter, counter.Channel, counter.Source, counter.Campaign, counter.Country, counter.Device,
		counter.Browser, counter.OS, AuthorFilter, SectionFilter, TagFilter, EventFilter,
	}
}

// ParseFilters parses texts of the form "name:value"; a value may contain colons. Values of the same name are
// alternatives.
func ParseFilters(texts []string) Filters {
	var fs Filters
	for _, text := range texts {
		name, value, _ := strings.Cut(text, ":")
		fs = fs.With(name, value)
	}
	return fs
}

// With adds a value.
func (fs Filters) With(name, value string) Filters {
	out := slices.Clone(fs)
	for i, f := range out {
		if f.Name != name {
			continue
		}
		if !slices.Contains(f.Values, value) {
			out[i].Values = append(slices.Clone(f.Values), value)
		}
		return out
	}
	return append(out, Filter{name, []string{value}})
}

// Texts returns the filters as ParseFilters reads them.
func (fs Filters) Texts() []string {
	texts := []string{}
	for _, f := range fs {
		for _, value := range f.Values {
			texts = append(texts, f.Name+":"+value)
		}
	}
	return texts
}

// values returns the values of a filter; nil if there is none.
func (fs Filters) values(name string) []string {
	for _, f := range fs {
		if f.Name == name {
			return f.Values
		}
	}
	return nil
}

func (fs Filters) has(name string) bool { return fs.values(name) != nil }

// isOfArticle reports whether a filter is by what articles are grouped by.
func isOfArticle(name string) bool {
	return name == AuthorFilter || name == SectionFilter || name == TagFilter
}

// hasArticles reports whether the filters restrict a report to some articles.
func (fs Filters) hasArticles() bool {
	return slices.ContainsFunc(fs, func(f Filter) bool { return isOfArticle(f.Name) })
}

// isOfPages reports whether the filters restrict a report to some pages.
func (fs Filters) isOfPages() bool { return fs.has(PageFilter) || fs.hasArticles() }

// pageDimension returns the filter by country or device of some pages; no name: none.
func (fs Filters) pageDimension() Filter {
	for _, f := range fs {
		if fs.isOfPages() && (f.Name == counter.Country || f.Name == counter.Device) {
			return f
		}
	}
	return Filter{}
}

// summedArticles returns the filter of a report that is the sum of stored totals by author, section or tag; no name:
// it is not. An article may have two of the authors or tags, and counts once: then it is no sum.
func (fs Filters) summedArticles() Filter {
	if len(fs) == 1 && isOfArticle(fs[0].Name) && (fs[0].Name == SectionFilter || len(fs[0].Values) == 1) {
		return fs[0]
	}
	return Filter{}
}

// isComputable reports whether what matches all filters is counted.
//
// A visit is counted by each of its dimensions separately, an event by its name. A page's views are counted by page,
// and by page and country and by page and device; authors, sections and tags are sets of pages.
func (fs Filters) isComputable() bool {
	if len(fs) <= 1 {
		return true
	}
	dimensions := 0
	for _, f := range fs {
		switch {
		case f.Name == PageFilter || isOfArticle(f.Name):
		case f.Name == counter.Country || f.Name == counter.Device:
			dimensions++
		default:
			return false
		}
	}
	return dimensions <= 1 && fs.isOfPages()
}

// Combinable returns the names of the filters that can be added, including further values of those that are set.
func (fs Filters) Combinable() []string {
	return slices.DeleteFunc(FilterNames(), func(name string) bool {
		return !fs.has(name) && !append(slices.Clone(fs), Filter{Name: name, Values: []string{""}}).isComputable()
	})
}

// MaxDays returns the maximum number of days of a report until today.
func (fs Filters) MaxDays() int {
	if fs.pageDimension().Name != "" {
		return PageDimensionDays
	}
	return maxDays
}

// Check returns an error if what matches all filters is not counted.
func (fs Filters) Check() error {
	if fs.isComputable() {
		return nil
	}
	return notComputable(apperr.Field("filter", "not_combinable", "These filters cannot be combined: readers are not "+
		"stored, and visits are counted by one dimension at a time. Pages, authors, sections and tags can be combined "+
		"with each other and with either country or device."))
}

// Selection is some pages of a site.
type Selection struct {
	Pages                   []string // empty: all
	Authors, Sections, Tags []string // of their articles; empty: any
	// Dimension restricts views to values of country or device; empty: all views.
	Dimension string
	Values    []string
}

// selection returns the pages that a report is restricted to.
func (fs Filters) selection() Selection {
	d := fs.pageDimension()
	return Selection{
		Pages: fs.values(PageFilter), Authors: fs.values(AuthorFilter), Sections: fs.values(SectionFilter),
		Tags: fs.values(TagFilter), Dimension: d.Name, Values: d.Values,
	}
}
