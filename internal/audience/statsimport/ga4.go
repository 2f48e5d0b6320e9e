package statsimport

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/dimensions"
)

// parseGA4 reads tables of Google Analytics 4: one CSV or JSON file, or an archive of
// several. Each table has the date and at most one other dimension, with the names of
// the Data API (https://developers.google.com/analytics/devguides/reporting/data/v1/api-schema)
// or those that explorations show in English.
func parseGA4(raw []byte) (*Data, error) {
	g := ga4{data: newData(), referrers: dimensions.NewReferrers(), countries: countryCodes()}
	if !bytes.HasPrefix(raw, []byte("PK")) {
		if err := g.read(bytes.NewReader(raw), bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{"))); err != nil {
			return nil, err
		}
		return g.result()
	}
	archive, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, errors.New("it is a damaged zip archive")
	}
	unpacked := uint64(0)
	for _, f := range archive.File {
		name := strings.ToLower(path.Base(f.Name))
		if strings.HasPrefix(name, ".") || !strings.HasSuffix(name, ".csv") && !strings.HasSuffix(name, ".json") {
			continue
		}
		if unpacked += f.UncompressedSize64; unpacked > maxUnpackedBytes {
			return nil, errors.New("its contents are larger than 512 MiB")
		}
		if err := g.readFile(f, strings.HasSuffix(name, ".json")); err != nil {
			return nil, fmt.Errorf("%s: %w", path.Base(f.Name), err)
		}
	}
	return g.result()
}

type ga4 struct {
	data      *Data
	referrers *dimensions.Referrers
	countries map[string]string // ISO codes by English name
}

func (g *ga4) result() (*Data, error) {
	if len(g.data.Days) == 0 {
		return nil, errors.New("it has no table whose only dimension is the date; add one with views, sessions, " +
			"total users and engaged sessions")
	}
	return g.data, nil
}

func (g *ga4) readFile(f *zip.File, isJSON bool) error {
	file, err := f.Open()
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	return g.read(io.LimitReader(file, maxUnpackedBytes), isJSON)
}

func (g *ga4) read(r io.Reader, isJSON bool) error {
	t, err := openGA4(r, isJSON)
	if err != nil {
		return err
	}
	add, err := g.adder(t)
	if err != nil {
		return err
	}
	for {
		more, err := t.next()
		if err != nil || !more {
			return err
		}
		text := t.text("date")
		if text == "" || strings.HasPrefix(text, "#") || slices.ContainsFunc(t.row, isGA4Total) {
			continue
		}
		at, err := time.Parse("20060102", strings.ReplaceAll(text, "-", ""))
		if err != nil {
			return fmt.Errorf("row %d: date must be a day such as 20260131, not %q", t.line, text)
		}
		if err := add(counter.DayOf(at)); err != nil {
			return err
		}
	}
}

func isGA4Total(cell string) bool { return cell == "Grand total" || cell == "RESERVED_TOTAL" }

// openGA4 opens a table with the column names of the Data API.
func openGA4(r io.Reader, isJSON bool) (*table, error) {
	open := openTable
	if isJSON {
		open = openGA4Response
	}
	t, err := open(r)
	// A CSV file of an exploration begins with lines of comments, and may have an empty one.
	for err == nil && !isJSON &&
		(len(t.columns) < 2 || slices.ContainsFunc(t.names, func(n string) bool { return strings.HasPrefix(n, "#") })) {
		err = t.readHeader()
	}
	if err != nil {
		return nil, err
	}
	for shown, name := range ga4Names() {
		if i, ok := t.columns[shown]; ok {
			t.columns[name] = i
		}
	}
	if _, ok := t.columns["date"]; !ok {
		return nil, errors.New("it has no column date")
	}
	return t, nil
}

// ga4Names maps the names that explorations show to those of the Data API.
func ga4Names() map[string]string {
	return map[string]string{
		"Date": "date", "Page path and screen class": "pagePath", "Page path": "pagePath",
		"Landing page":   "landingPage",
		"Session source": "sessionSource", "Session campaign": "sessionCampaignName", "Country ID": "countryId",
		"Country":         "country",
		"Device category": "deviceCategory", "Browser": "browser", "Operating system": "operatingSystem",
		"Views": "screenPageViews", "Sessions": "sessions", "Total users": "totalUsers", "Active users": "activeUsers",
		"Engaged sessions": "engagedSessions", "Bounce rate": "bounceRate",
	}
}

// openGA4Response opens the response of the Data API's runReport.
func openGA4Response(r io.Reader) (*table, error) {
	type header struct{ Name string }
	type value struct{ Value string }
	var response struct {
		DimensionHeaders, MetricHeaders []header
		Rows                            []struct{ DimensionValues, MetricValues []value }
	}
	if err := json.NewDecoder(r).Decode(&response); err != nil {
		return nil, errors.New("it is no response of the Data API's runReport")
	}
	t, next := &table{columns: map[string]int{}}, 0
	for i, h := range slices.Concat(response.DimensionHeaders, response.MetricHeaders) {
		t.columns[h.Name] = i
	}
	t.read = func() ([]string, error) {
		if next == len(response.Rows) {
			return nil, io.EOF
		}
		row := response.Rows[next]
		next++
		cells := make([]string, 0, len(t.columns))
		for _, v := range slices.Concat(row.DimensionValues, row.MetricValues) {
			cells = append(cells, v.Value)
		}
		return cells, nil
	}
	return t, nil
}

// adder returns how to add the current row of a table, by its dimension.
func (g *ga4) adder(t *table) (func(counter.Day) error, error) {
	value := func(dimension, column string, convert func(string) string) func(counter.Day) error {
		return func(day counter.Day) error {
			n, err := t.numbers("screenPageViews", "sessions")
			if err == nil && t.text(column) != "(not set)" && t.text(column) != "(other)" {
				g.data.addValue(day, dimension, convert(t.text(column)), ValueTotals{n[0], n[1]})
			}
			return err
		}
	}
	same := func(text string) string { return text }
	kinds := map[string]func(counter.Day) error{
		"pagePath": func(day counter.Day) error {
			n, err := t.numbers("screenPageViews")
			users, usersErr := t.users()
			g.data.addPage(day, t.text("pagePath"), PageTotals{Views: sumOf(n), Visitors: users})
			return errors.Join(err, usersErr)
		},
		"landingPage": func(day counter.Day) error {
			n, err := t.numbers("sessions")
			g.data.addPage(day, t.text("landingPage"), PageTotals{Entries: sumOf(n)})
			return err
		},
		"sessionSource": value(counter.Source, "sessionSource", func(text string) string {
			return sourceOf(g.referrers, strings.Trim(text, "()"))
		}),
		"sessionCampaignName": value(counter.Campaign, "sessionCampaignName", ga4Campaign),
		"countryId":           value(counter.Country, "countryId", same),
		"country":             value(counter.Country, "country", func(text string) string { return g.countries[text] }),
		"deviceCategory":      value(counter.Device, "deviceCategory", strings.ToLower),
		"browser":             value(counter.Browser, "browser", dimensions.BrowserName),
		"operatingSystem":     value(counter.OS, "operatingSystem", dimensions.SystemName),
	}
	found, add := "", g.total(t)
	for column, kind := range kinds {
		if _, ok := t.columns[column]; !ok {
			continue
		}
		if found != "" {
			return nil, fmt.Errorf("it has the dimensions %s and %s; export a table for each", min(found, column),
				max(found, column))
		}
		found, add = column, kind
	}
	if found == "" {
		if other := t.otherThan("date", "screenPageViews", "sessions", "totalUsers", "activeUsers", "engagedSessions",
			"bounceRate"); other != "" {
			return nil, fmt.Errorf("its column %q is not known", other)
		}
	}
	return add, nil
}

// total adds a row of a table without other dimensions.
func (g *ga4) total(t *table) func(counter.Day) error {
	return func(day counter.Day) error {
		n, err := t.numbers("screenPageViews", "sessions", "engagedSessions")
		if err != nil {
			return err
		}
		users, err := t.users()
		if err != nil {
			return err
		}
		bounces := int64(0)
		if t.text("engagedSessions") != "" {
			bounces = max(0, n[1]-n[2])
		} else if text := t.text("bounceRate"); text != "" {
			share, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
			if strings.HasSuffix(text, "%") {
				share /= 100
			}
			if err != nil || !(share >= 0 && share <= 1) {
				return fmt.Errorf("row %d: bounceRate must be a share between 0 and 1, not %q", t.line, text)
			}
			bounces = int64(math.Round(share * float64(n[1])))
		}
		g.data.addDay(day, Totals{Views: n[0], Visitors: users, Visits: n[1], Bounces: bounces})
		return nil
	}
}

// users returns the total users of a row, or its active users.
func (t *table) users() (int64, error) {
	if t.text("totalUsers") != "" {
		return t.number("totalUsers")
	}
	return t.number("activeUsers")
}

// otherThan returns a column of the header that is not in names.
func (t *table) otherThan(names ...string) string {
	known := map[int]bool{}
	for _, name := range names {
		if i, ok := t.columns[name]; ok {
			known[i] = true
		}
	}
	for name, i := range t.columns {
		if !known[i] && name != "" {
			return name
		}
	}
	return ""
}

func ga4Campaign(text string) string {
	if strings.HasPrefix(text, "(") { // (direct), (organic), (referral)
		return ""
	}
	return strings.ToLower(text)
}

// countryCodes returns the ISO codes of countries by English name.
func countryCodes() map[string]string {
	names, codes := display.Regions(language.English), map[string]string{
		"Türkiye": "TR", "Myanmar (Burma)": "MM", "Czechia": "CZ",
	}
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			region, err := language.ParseRegion(string([]rune{a, b}))
			if err == nil && region.IsCountry() {
				codes[names.Name(region)] = string([]rune{a, b})
			}
		}
	}
	return codes
}

func sumOf(n []int64) (sum int64) {
	for _, x := range n {
		sum += x
	}
	return sum
}
