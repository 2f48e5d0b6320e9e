// Package statsimport imports the statistics of other products into a site's reports:
// daily totals, pages and dimensions. Imported rows are marked, end before the site's
// own begin, and can be deleted together.
package statsimport

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/dimensions"
	"dateline/internal/audience/ingest"
	"dateline/internal/audience/site"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
)

// Source is a product that statistics are imported from.
type Source string

// The sources.
const (
	Plausible   Source = "plausible"   // the archive of its CSV export
	GoatCounter Source = "goatcounter" // its CSV export, version 2
	GA4         Source = "ga4"         // tables of Google Analytics 4
)

// Import is a completed import.
type Import struct {
	ID, WorkspaceID, SiteID uuid.UUID
	Source                  Source
	From, To                counter.Day // of the imported days
	Views                   int64
	CreatedAt               time.Time
}

// Running is an import in progress. It stores everything in one transaction at its end, or
// nothing.
type Running struct {
	ID          uuid.UUID
	Source      Source
	Done, Total int64 // rows; Total is 0 while the file is read
	StartedAt   time.Time
}

// Totals are the totals of a day.
type Totals struct {
	Views, Visitors, Visits, Bounces int64
	WithoutVisits                    bool // visits and visitors are not known
}

// PageTotals are the totals of a page on a day.
type PageTotals struct{ Views, Visitors, Entries int64 }

// ValueTotals are the totals of a value of a dimension on a day.
type ValueTotals struct{ Views, Visits int64 }

// PageDay is a page on a day.
type PageDay struct {
	Day  counter.Day
	Page string
}

// ValueDay is a value of a dimension on a day.
type ValueDay struct {
	Day              counter.Day
	Dimension, Value string
}

// Data is what a file contains.
type Data struct {
	Days   map[counter.Day]Totals
	Pages  map[PageDay]PageTotals
	Values map[ValueDay]ValueTotals
}

func newData() *Data {
	return &Data{Days: map[counter.Day]Totals{}, Pages: map[PageDay]PageTotals{}, Values: map[ValueDay]ValueTotals{}}
}

// Store persists imports.
type Store interface {
	Site(ctx context.Context, workspace, id uuid.UUID) (site.Site, error)
	// FirstSiteDay returns the first day that Dateline itself counted.
	FirstSiteDay(ctx context.Context, site uuid.UUID) (day counter.Day, found bool, err error)
	StartStatsImport(ctx context.Context, i Import) error
	// AddStatsImport stores a started import unless another one has days in its range, or it
	// is canceled in the meantime. progress is called repeatedly with the number of rows; its
	// error ends the import.
	AddStatsImport(ctx context.Context, i Import, d *Data, progress func(rows int64) error) (Import, error)
	// UpdateStatsImport stores the progress of an import and reports whether it is not canceled.
	UpdateStatsImport(ctx context.Context, id uuid.UUID, done, total int64) (active bool, err error)
	// EndStatsImport ends an import that failed.
	EndStatsImport(ctx context.Context, id uuid.UUID) error
	StatsImports(ctx context.Context, workspace, site uuid.UUID) ([]Import, error)
	RunningStatsImports(ctx context.Context, workspace, site uuid.UUID) ([]Running, error)
	// DeleteStatsImport deletes an import, or cancels it.
	DeleteStatsImport(ctx context.Context, workspace, site, id uuid.UUID) error
}

// ErrCanceled is returned by an import that was canceled.
var ErrCanceled = &apperr.Error{ //nolint:gochecknoglobals // a sentinel
	Kind: apperr.KindConflict, Code: "import_canceled", Message: "The import was canceled. Nothing of it is stored.",
}

// Service imports statistics.
type Service struct{ Store Store }

const (
	// maxFileBytes is the maximum size of a file, maxUnpackedBytes that of an archive's
	// contents.
	maxFileBytes     = 64 << 20
	maxUnpackedBytes = 512 << 20
	// pagesPerDay is the number of pages of a day that reports list.
	pagesPerDay = 1_000
	// ownDays is how many of the last days may still get counts of Dateline's own.
	ownDays = 3
)

// Import reads a file and stores the days before the first one that Dateline counted.
func (s *Service) Import(
	ctx context.Context, who workspace.Principal, siteID uuid.UUID, source Source, file io.Reader,
) (done Import, err error) {
	w, err := s.Store.Site(ctx, who.WorkspaceID, siteID)
	if err != nil {
		return Import{}, err
	}
	counted, err := w.CounterSite()
	if err != nil {
		return Import{}, err
	}
	raw, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err != nil {
		return Import{}, err
	}
	if len(raw) > maxFileBytes {
		return Import{}, &apperr.Error{
			Kind: apperr.KindTooLarge, Code: "too_large", Message: "The file is larger than 64 MiB. Split it by time.",
		}
	}
	i := Import{ID: uuid.Must(uuid.NewV7()), WorkspaceID: who.WorkspaceID, SiteID: siteID, Source: source}
	if err := s.Store.StartStatsImport(ctx, i); err != nil {
		return Import{}, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Store.EndStatsImport(context.WithoutCancel(ctx), i.ID))
		}
	}()
	if raw, err = gunzip(raw); err != nil {
		return Import{}, invalidFile(err)
	}
	var data *Data
	switch source {
	case GoatCounter:
		data, err = parseGoatCounter(raw, counted.Zone)
	case GA4:
		data, err = parseGA4(raw)
	case Plausible:
		data, err = parsePlausible(raw)
	}
	if err != nil {
		return Import{}, invalidFile(err)
	}
	end := counter.DayAt(time.Now(), counted.Zone) - ownDays + 1
	if first, found, err := s.Store.FirstSiteDay(ctx, siteID); err != nil {
		return Import{}, err
	} else if found {
		end = min(end, first)
	}
	data.endBefore(end)
	if len(data.Days) == 0 {
		return Import{}, &apperr.Error{
			Kind: apperr.KindConflict, Code: "nothing_to_import",
			Message: fmt.Sprintf("The file has no days before %s, from which Dateline counts itself.",
				end.Time().Format(time.DateOnly)),
		}
	}
	first := true
	for day, t := range data.Days {
		if first || day < i.From {
			i.From = day
		}
		if first || day > i.To {
			i.To = day
		}
		first = false
		i.Views += t.Views
	}
	data.limitPages()
	total := int64(len(data.Days) + len(data.Values) + len(data.Pages))
	return s.Store.AddStatsImport(ctx, i, data, func(rows int64) error { return s.report(ctx, i.ID, rows, total) })
}

// reportTimeout limits the update of the progress, which does not need to succeed.
const reportTimeout = 5 * time.Second

// report stores the progress of an import, and returns ErrCanceled if it is canceled.
func (s *Service) report(ctx context.Context, id uuid.UUID, done, total int64) error {
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	if active, err := s.Store.UpdateStatsImport(ctx, id, done, total); err == nil && !active {
		return ErrCanceled
	}
	return nil
}

// Running lists the imports of a site that are in progress, the oldest first.
func (s *Service) Running(ctx context.Context, who workspace.Principal, siteID uuid.UUID) ([]Running, error) {
	return s.Store.RunningStatsImports(ctx, who.WorkspaceID, siteID)
}

// List lists the imports of a site, the oldest first.
func (s *Service) List(ctx context.Context, who workspace.Principal, siteID uuid.UUID) ([]Import, error) {
	return s.Store.StatsImports(ctx, who.WorkspaceID, siteID)
}

// Delete deletes an import with all its rows, or cancels it.
func (s *Service) Delete(ctx context.Context, who workspace.Principal, siteID, id uuid.UUID) error {
	return s.Store.DeleteStatsImport(ctx, who.WorkspaceID, siteID, id)
}

// gunzip unpacks a file as GoatCounter delivers it; others are returned as they are.
func gunzip(raw []byte) ([]byte, error) {
	if !bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) { // RFC 1952, 2.3.1
		return raw, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, errors.New("it is a damaged gzip file")
	}
	unpacked, err := io.ReadAll(io.LimitReader(z, maxUnpackedBytes+1))
	switch {
	case err != nil:
		return nil, errors.New("it is a damaged gzip file")
	case len(unpacked) > maxUnpackedBytes:
		return nil, errors.New("its contents are larger than 512 MiB")
	}
	return unpacked, nil
}

func invalidFile(err error) error {
	return &apperr.Error{
		Kind: apperr.KindInvalid, Code: "invalid_request",
		Message: "The file cannot be imported; see errors.",
		Fields: []apperr.FieldError{
			{Field: "body", Code: "invalid", Message: "The file cannot be read: " + err.Error() + "."},
		},
	}
}

// endBefore removes a day and all later ones.
func (d *Data) endBefore(end counter.Day) {
	for day := range d.Days {
		if day >= end {
			delete(d.Days, day)
		}
	}
	for key := range d.Pages {
		if _, ok := d.Days[key.Day]; !ok {
			delete(d.Pages, key)
		}
	}
	for key := range d.Values {
		if _, ok := d.Days[key.Day]; !ok {
			delete(d.Values, key)
		}
	}
}

// limitPages removes all but the most viewed pages of a day: reports list no others.
func (d *Data) limitPages() {
	byDay := map[counter.Day][]string{}
	for key := range d.Pages {
		byDay[key.Day] = append(byDay[key.Day], key.Page)
	}
	for day, pages := range byDay {
		if len(pages) <= pagesPerDay {
			continue
		}
		slices.SortFunc(pages, func(a, b string) int {
			return cmp.Or(cmp.Compare(d.Pages[PageDay{day, b}].Views, d.Pages[PageDay{day, a}].Views),
				cmp.Compare(a, b))
		})
		for _, page := range pages[pagesPerDay:] {
			delete(d.Pages, PageDay{day, page})
		}
	}
}

func (d *Data) addDay(day counter.Day, t Totals) {
	sum := d.Days[day]
	d.Days[day] = Totals{
		sum.Views + t.Views, sum.Visitors + t.Visitors, sum.Visits + t.Visits, sum.Bounces + t.Bounces,
		sum.WithoutVisits || t.WithoutVisits,
	}
}

func (d *Data) addPage(day counter.Day, name string, t PageTotals) {
	page, problem := ingest.PageName(name)
	if problem != nil {
		return
	}
	key := PageDay{day, page}
	sum := d.Pages[key]
	d.Pages[key] = PageTotals{sum.Views + t.Views, sum.Visitors + t.Visitors, sum.Entries + t.Entries}
}

func (d *Data) addValue(day counter.Day, dimension, value string, t ValueTotals) {
	if value == "" || len(value) > maxValueBytes {
		return // part of the rest
	}
	if dimension != counter.Country && dimension != counter.Device {
		t.Views = 0 // other dimensions have visits only
	}
	key := ValueDay{day, dimension, value}
	sum := d.Values[key]
	d.Values[key] = ValueTotals{sum.Views + t.Views, sum.Visits + t.Visits}
}

const maxValueBytes = 200

// sourceOf returns a source as Dateline names it: of a name, a host or an address.
func sourceOf(referrers *dimensions.Referrers, name string) string {
	if name == "" || name == "Direct / None" {
		return string(dimensions.Direct)
	}
	if source := referrers.Source(name); source != "" {
		return source
	}
	a := referrers.Arrival("/?utm_source="+url.QueryEscape(name), "", "", func(string) bool { return false })
	return a.Source
}
