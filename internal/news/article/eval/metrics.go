package eval

import (
	"slices"
	"strings"
	"time"

	"dateline/internal/news/article/score"
)

// Group is the totals of the pages of one half and type.
type Group struct {
	Half     score.Half
	Type     string
	Own      Metrics
	Baseline Metrics
	// Learned is the same with selectors learned from the other pages of the site, and
	// LearnedGeneric generic extraction on the same pages.
	Learned        Metrics
	LearnedGeneric Metrics
	// The same by site, for intervals.
	OwnSites, BaselineSites Sites
}

func (g *Group) merge(o Group) {
	g.OwnSites.merge(o.OwnSites)
	g.BaselineSites.merge(o.BaselineSites)
	g.Own.merge(o.Own)
	g.Baseline.merge(o.Baseline)
	g.Learned.merge(o.Learned)
	g.LearnedGeneric.merge(o.LearnedGeneric)
}

// Metrics are the results of one extractor.
type Metrics struct {
	Pages   int
	Empty   int         // pages without extracted text
	Body    score.Total // shingles
	Words   Mean        // F1 of words
	Rouge   Mean        // ROUGE-LSum
	Strings score.Strings
	Title   Ratio // equal, ignoring case and punctuation
	Author  Ratio // exactly the right authors
	Date    Ratio // day of publication
	Minute  Ratio // minute of publication, if annotated
	Section Ratio
	Image   Ratio
	cpuTime time.Duration
}

// Ratio counts correct pages among those with an annotation.
type Ratio struct{ Right, Total int }

func (s *Ratio) add(right bool) {
	s.Total++
	if right {
		s.Right++
	}
}

func (s *Ratio) merge(o Ratio) { s.Right, s.Total = s.Right+o.Right, s.Total+o.Total }

// Value returns the ratio, or nil without annotations.
func (s Ratio) Value() *float64 {
	if s.Total == 0 {
		return nil
	}
	v := float64(s.Right) / float64(s.Total)
	return &v
}

// Mean is the mean of the pages with an annotation.
type Mean struct {
	Sum   float64
	Count int
}

func (m *Mean) add(v float64) { m.Sum, m.Count = m.Sum+v, m.Count+1 }

func (m *Mean) merge(o Mean) { m.Sum, m.Count = m.Sum+o.Sum, m.Count+o.Count }

// Value returns the mean, or nil without annotations.
func (m Mean) Value() *float64 {
	if m.Count == 0 {
		return nil
	}
	v := m.Sum / float64(m.Count)
	return &v
}

// PerSecond is the number of pages per second of CPU time.
func (r *Metrics) PerSecond() float64 {
	if r.cpuTime <= 0 {
		return 0
	}
	return float64(r.Pages) / r.cpuTime.Seconds()
}

func (r *Metrics) merge(o Metrics) {
	r.Pages, r.Empty, r.cpuTime = r.Pages+o.Pages, r.Empty+o.Empty, r.cpuTime+o.cpuTime
	r.Body.Merge(o.Body)
	r.Words.merge(o.Words)
	r.Rouge.merge(o.Rouge)
	r.Strings.Add(o.Strings)
	r.Title.merge(o.Title)
	r.Author.merge(o.Author)
	r.Date.merge(o.Date)
	r.Minute.merge(o.Minute)
	r.Section.merge(o.Section)
	r.Image.merge(o.Image)
}

// compare compares the result of an extractor with the ground truth of one page.
func compare(p score.Page, got Extracted) Metrics {
	r := Metrics{Pages: 1}
	if got.Text == "" {
		r.Empty = 1
	}
	if p.Body != "" {
		r.Body.Add(score.CompareBody(p.Body, got.Text))
		r.Words.add(score.WordF1(p.Body, got.Text))
		r.Rouge.add(score.RougeLSum(p.Body, got.Text))
	}
	r.Strings = score.CompareStrings(p.With, p.Without, got.Text)
	if p.Title != "" {
		r.Title.add(score.SameTitle(p.Title, got.Title))
	}
	if len(p.Authors) > 0 {
		r.Author.add(score.SameAuthors(p.Authors, got.Authors))
	}
	at, clock, ok := score.ParseTime(p.Published)
	if ok {
		r.Date.add(score.SameDay(at, got.Published))
	}
	if clock {
		r.Minute.add(!got.DateOnly && at.Truncate(time.Minute).Equal(got.Published.Truncate(time.Minute)))
	}
	if len(p.Sections) > 0 {
		r.Section.add(slices.ContainsFunc(p.Sections, func(s string) bool { return score.SameTitle(s, got.Section) }))
	}
	if p.Image != "" {
		r.Image.add(strings.TrimSpace(got.Image) == strings.TrimSpace(p.Image))
	}
	return r
}

// quality is the figure by which pages are sorted.
func (r *Metrics) quality() float64 {
	if v := r.Words.Value(); v != nil {
		return *v
	}
	return r.Strings.F1()
}
