package statsimport

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/dimensions"
)

// table reads rows by the names of their columns.
type table struct {
	read    func() ([]string, error)
	names   []string
	columns map[string]int
	row     []string
	line    int
}

func openTable(r io.Reader) (*table, error) {
	c := csv.NewReader(r)
	c.ReuseRecord, c.LazyQuotes, c.FieldsPerRecord = true, true, -1
	t := &table{read: c.Read}
	return t, t.readHeader()
}

func (t *table) readHeader() error {
	names, err := t.read()
	if err != nil {
		return fmt.Errorf("no header: %w", err)
	}
	t.line++
	t.names, t.columns = slices.Clone(names), map[string]int{}
	for i, name := range t.names {
		t.columns[strings.TrimPrefix(strings.TrimSpace(name), "\ufeff")] = i
	}
	return nil
}

// next reads a row; false at the end.
func (t *table) next() (bool, error) {
	var err error
	t.row, err = t.read()
	t.line++
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	return err == nil, err
}

// clickHouseNull is how ClickHouse writes a missing value in CSV. Plausible's files can have
// it: a day without a session has page views of sessions that began the day before.
// https://clickhouse.com/docs/interfaces/formats/CSV
const clickHouseNull = `\N`

// text returns a value; "" if it is missing.
func (t *table) text(name string) string {
	if i, ok := t.columns[name]; ok && i < len(t.row) && t.row[i] != clickHouseNull {
		return t.row[i]
	}
	return ""
}

// number returns a count; 0 without the column.
func (t *table) number(name string) (int64, error) {
	text := t.text(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > 1e12 {
		return 0, fmt.Errorf("row %d: %s must be a whole number, not %q", t.line, name, text)
	}
	return n, nil
}

func (t *table) numbers(names ...string) ([]int64, error) {
	out := make([]int64, len(names))
	for i, name := range names {
		n, err := t.number(name)
		if err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}

func (t *table) day() (counter.Day, error) {
	at, err := time.Parse(time.DateOnly, t.text("date"))
	if err != nil {
		return 0, fmt.Errorf("row %d: date must be a day such as 2026-01-31, not %q", t.line, t.text("date"))
	}
	return counter.DayOf(at), nil
}

// parsePlausible reads the archive of Plausible's export
// (https://plausible.io/docs/csv-import). Files and columns may be missing.
func parsePlausible(raw []byte) (*Data, error) {
	archive, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, errors.New("it is no zip archive; upload the archive that Plausible exports")
	}
	d, referrers, unpacked := newData(), dimensions.NewReferrers(), uint64(0)
	for _, f := range archive.File {
		name := path.Base(f.Name)
		if !strings.HasPrefix(name, "imported_") || !strings.HasSuffix(name, ".csv") {
			continue
		}
		if unpacked += f.UncompressedSize64; unpacked > maxUnpackedBytes {
			return nil, errors.New("its contents are larger than 512 MiB")
		}
		if err := readPlausible(d, referrers, f); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if len(d.Days) == 0 {
		return nil, errors.New("it has no imported_visitors file with days")
	}
	return d, nil
}

func readPlausible(d *Data, referrers *dimensions.Referrers, f *zip.File) error {
	kind := strings.TrimPrefix(path.Base(f.Name), "imported_")
	kind = kind[:len(kind)-len(strings.TrimLeft(kind, "abcdefghijklmnopqrstuvwxyz_"))]
	add := plausibleFiles(d, referrers)[strings.TrimSuffix(kind, "_")]
	if add == nil {
		return nil // exit pages and custom events have no place in reports
	}
	file, err := f.Open()
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	t, err := openTable(io.LimitReader(file, maxUnpackedBytes))
	if err != nil {
		return err
	}
	for {
		more, err := t.next()
		if err != nil || !more {
			return err
		}
		day, err := t.day()
		if err != nil {
			return err
		}
		if err := add(t, day); err != nil {
			return err
		}
	}
}

// plausibleFiles returns how to add a row, by the name of the file.
func plausibleFiles(d *Data, referrers *dimensions.Referrers) map[string]func(*table, counter.Day) error {
	value := func(dimension string, of func(*table) string) func(*table, counter.Day) error {
		return func(t *table, day counter.Day) error {
			n, err := t.numbers("pageviews", "visits")
			if err == nil {
				d.addValue(day, dimension, of(t), ValueTotals{n[0], n[1]})
			}
			return err
		}
	}
	column := func(name string) func(*table) string { return func(t *table) string { return t.text(name) } }
	sources := value(counter.Source, func(t *table) string { return sourceOf(referrers, t.text("source")) })
	campaigns := value(counter.Campaign, func(t *table) string { return strings.ToLower(t.text("utm_campaign")) })
	return map[string]func(*table, counter.Day) error{
		"visitors": func(t *table, day counter.Day) error {
			n, err := t.numbers("pageviews", "visitors", "visits", "bounces")
			if err == nil {
				d.addDay(day, Totals{Views: n[0], Visitors: n[1], Visits: n[2], Bounces: min(n[3], n[2])})
			}
			return err
		},
		"pages": func(t *table, day counter.Day) error {
			n, err := t.numbers("pageviews", "visitors")
			if err == nil {
				d.addPage(day, t.text("page"), PageTotals{Views: n[0], Visitors: n[1]})
			}
			return err
		},
		"entry_pages": func(t *table, day counter.Day) error {
			n, err := t.number("entrances")
			if err == nil {
				d.addPage(day, t.text("entry_page"), PageTotals{Entries: n})
			}
			return err
		},
		"sources": func(t *table, day counter.Day) error { return errors.Join(sources(t, day), campaigns(t, day)) },
		"devices": value(counter.Device, func(t *table) string {
			if device := strings.ToLower(t.text("device")); device != "laptop" {
				return device
			}
			return dimensions.Desktop
		}),
		"locations": value(counter.Country, column("country")),
		"browsers": value(counter.Browser, func(t *table) string {
			return dimensions.BrowserName(t.text("browser"))
		}),
		"operating_systems": value(counter.OS, func(t *table) string {
			return dimensions.SystemName(t.text("operating_system"))
		}),
	}
}

var errGoatCounterEmpty = errors.New("it has no page views. GoatCounter exports only those that it counted while " +
	"\"Individual pageviews\" was on in its settings, under \"Data collection\"; it is off until somebody turns it on")

// session is a session of a GoatCounter export on one day.
type session struct {
	day counter.Day
	id  string
}

// parseGoatCounter reads an export of version 2, which has a row per page view
// (https://www.goatcounter.com/help/export). Bots and events are left out.
func parseGoatCounter(raw []byte, zone *time.Location) (*Data, error) {
	// Without page views GoatCounter 2.7 does not even write a header (its Export.RunCSV).
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, errGoatCounterEmpty
	}
	t, err := openTable(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	if _, ok := t.columns["2Path"]; !ok {
		return nil, errors.New("its first column must be 2Path; export it from GoatCounter in version 2 of the format")
	}
	d, referrers, views := newData(), dimensions.NewReferrers(), map[session]int64{}
	readers := map[PageDay]map[string]bool{}
	for {
		more, err := t.next()
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", t.line, err)
		}
		if !more {
			break
		}
		if bot := t.text("Bot"); bot != "" && bot != "0" || t.text("Event") == "true" || t.text("Event") == "1" {
			continue
		}
		at, err := time.Parse(time.RFC3339, t.text("Date"))
		if err != nil {
			return nil, fmt.Errorf("row %d: Date must be a time such as 2026-01-31T10:00:00Z, not %q", t.line,
				t.text("Date"))
		}
		id := t.text("Session")
		if strings.Trim(id, "0-") == "" {
			id = "" // sites without sessions have the number 0 of 128 bits, "0-0"
		}
		addGoatCounterView(d, referrers, t, session{counter.DayAt(at, zone), id}, views, readers)
	}
	for s, n := range views {
		if n == 1 && s.id != "" {
			d.addDay(s.day, Totals{Bounces: 1})
		}
	}
	if len(d.Days) == 0 {
		return nil, errGoatCounterEmpty
	}
	return d, nil
}

// addGoatCounterView adds a view. Sites without sessions have views only: their visits and
// visitors are not known, nor those of dimensions.
func addGoatCounterView(d *Data, referrers *dimensions.Referrers, t *table, s session, views map[session]int64,
	readers map[PageDay]map[string]bool,
) {
	name := "/" + strings.TrimLeft(t.text("2Path"), "/")
	if s.id == "" {
		d.addDay(s.day, Totals{Views: 1, WithoutVisits: true})
		d.addPage(s.day, name, PageTotals{Views: 1})
		return
	}
	views[s]++
	isFirst := views[s] == 1
	total, page, value := Totals{Views: 1}, PageTotals{Views: 1}, ValueTotals{Views: 1}
	if isFirst { // the first view of a session is a visit
		total.Visits, total.Visitors = 1, 1
		page.Entries, value.Visits = 1, 1
	}
	d.addDay(s.day, total)
	key := PageDay{s.day, name}
	if readers[key] == nil {
		readers[key] = map[string]bool{}
	}
	if !readers[key][s.id] {
		readers[key][s.id] = true
		page.Visitors = 1
	}
	d.addPage(s.day, name, page)
	country, _, _ := strings.Cut(t.text("Location"), "-")
	d.addValue(s.day, counter.Country, country, value)
	if !isFirst {
		return
	}
	d.addValue(s.day, counter.Browser, dimensions.BrowserName(t.text("Browser")), value)
	d.addValue(s.day, counter.OS, dimensions.SystemName(t.text("System")), value)
	d.addValue(s.day, counter.Source, sourceOf(referrers, t.text("Referrer")), value)
}
