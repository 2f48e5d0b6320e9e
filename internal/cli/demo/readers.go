package demo

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	// importedDays is how many days before those that Dateline counts itself are imported.
	importedDays = 60
	// recentHits is the number of views that a server sends for the last two days.
	recentHits = 4800
	// firstReaders come at once, so that there are readers from the first second on.
	firstReaders = 120
	// readerInterval is the mean interval between two readers.
	readerInterval = 900 * time.Millisecond
	// pool is the number of readers.
	pool = 4000
)

// addSite adds the site with its history: the daily numbers of another product, and the hits of the
// last two days, which its server sends.
func (f *filler) addSite(ctx context.Context) error {
	var made struct {
		Site      struct{ ID uuid.UUID }
		SecretKey string `json:"secret_key"`
	}
	if err := f.send(ctx, http.MethodPost, "/sites", object{
		"name": "Báo Mai", "domains": Hosts()[:1], "public_counts": true,
		"events": []object{{"name": "Đăng ký bản tin", "properties": []string{"vị trí"}}},
		"goals":  []object{{"name": "Đăng ký bản tin", "event": "Đăng ký bản tin"}},
	}, &made); err != nil {
		return err
	}
	site := "/sites/" + made.Site.ID.String()
	history, err := f.history(time.Now())
	if err != nil {
		return err
	}
	if err := f.sendAs(ctx, http.MethodPost, site+"/imports?source=plausible", history, http.Header{
		"Authorization": {"Bearer " + f.token}, "Content-Type": {"application/octet-stream"},
	}, nil); err != nil {
		return err
	}
	if _, err := f.create(ctx, site+"/shared-links", object{"name": "For the publisher"}); err != nil {
		return err
	}
	return f.sendRecent(ctx, made.SecretKey)
}

// pages returns the pages of the site, the most read first.
func (f *filler) pages() []string {
	links := f.articleLinks()
	if len(links) == 0 {
		for _, path := range []string{"/thoi-su/nuoc-song-dang-cao", "/kinh-te/gia-vang", "/the-thao/ban-ket"} {
			links = append(links, "https://"+Hosts()[ownSite]+path)
		}
	}
	return links
}

// history returns the export of another product, in Plausible's format
// (https://plausible.io/docs/csv-import). Weekends have fewer readers, and the site grows.
func (f *filler) history(now time.Time) (*bytes.Buffer, error) {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	write := func(name, header string, rows func(day time.Time, views int) []string) error {
		file, err := archive.Create("imported_" + name + ".csv")
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(file, header); err != nil {
			return err
		}
		for back := importedDays; back > 0; back-- {
			day := now.AddDate(0, 0, -back)
			views := int(2400*(1+.2*math.Sin(float64(back)))) - 10*back
			if day.Weekday() == time.Saturday || day.Weekday() == time.Sunday {
				views = views * 7 / 10
			}
			for _, row := range rows(day, views) {
				if _, err := fmt.Fprintf(file, "%s,%s\n", day.Format(time.DateOnly), row); err != nil {
					return err
				}
			}
		}
		return nil
	}
	split := func(values []weighted) func(time.Time, int) []string {
		return func(_ time.Time, views int) (rows []string) {
			for _, v := range values {
				n := views * v.weight / 100
				rows = append(rows, fmt.Sprintf("%s,%d,%d,%d", v.value, n*6/10, n*6/10, n))
			}
			return rows
		}
	}
	pages := func(day time.Time, views int) (rows []string) {
		for i, page := range f.pages() {
			at, err := url.Parse(page)
			if err != nil {
				continue
			}
			n := views / (i + 2) * (80 + (day.YearDay()*(i+3))%40) / 100
			rows = append(rows, fmt.Sprintf("%s,%d,%d", at.Path, n*7/10, n))
		}
		return rows
	}
	const counts = ",visitors,visits,pageviews"
	for _, table := range []struct {
		name, header string
		rows         func(time.Time, int) []string
	}{
		{"visitors", "date,visitors,pageviews,bounces,visits,visit_duration", func(_ time.Time, views int) []string {
			return []string{fmt.Sprintf("%d,%d,%d,%d,%d", views*5/10, views, views*2/10, views*6/10, views*60)}
		}},
		{"pages", "date,page,visitors,pageviews", pages},
		{"sources", "date,source" + counts, split(sources())},
		{"locations", "date,country" + counts, split(countries())},
		{"devices", "date,device" + counts, split([]weighted{{"Mobile", 71}, {"Desktop", 25}, {"Tablet", 4}})},
		{"browsers", "date,browser" + counts, split([]weighted{
			{"Chrome", 55}, {"Safari", 24}, {"Cốc Cốc", 12}, {"Firefox", 6},
		})},
		{"operating_systems", "date,operating_system" + counts, split([]weighted{
			{"Android", 47}, {"iOS", 24}, {"Windows", 21}, {"Mac", 6},
		})},
	} {
		if err := write(table.name, table.header, table.rows); err != nil {
			return nil, err
		}
	}
	return &out, archive.Close()
}

// weighted is a value with its percentage.
type weighted struct {
	value  string
	weight int
}

func sources() []weighted {
	return []weighted{{"Google", 41}, {"Facebook", 22}, {"Direct / None", 24}, {"Zalo", 6}, {"Bluesky", 4}}
}

func countries() []weighted {
	return []weighted{{"VN", 86}, {"US", 6}, {"AU", 2}, {"FR", 2}, {"JP", 1}}
}

// referrers are where readers come from; empty: directly.
func referrers() []string {
	return []string{
		"https://www.google.com/", "https://www.google.com.vn/", "https://www.google.com/", "", "",
		"https://m.facebook.com/", "https://l.facebook.com/", "https://chat.zalo.me/", "https://bsky.app/",
		"https://news.ycombinator.com/", "https://duckduckgo.com/",
	}
}

func agents() []string {
	const (
		webkit = "AppleWebKit/537.36 (KHTML, like Gecko) "
		apple  = "AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 "
		phone  = "Mozilla/5.0 (Linux; Android 10; K) " + webkit + "Chrome/149.0.0.0 Mobile Safari/537.36"
	)
	return []string{
		phone, phone,
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) " + apple + "Mobile/15E148 Safari/604.1",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) " + webkit + "Chrome/149.0.0.0 Safari/537.36",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) " + apple + "Safari/605.1.15",
		"Mozilla/5.0 (iPad; CPU OS 18_6 like Mac OS X) " + apple + "Mobile/15E148 Safari/604.1",
	}
}

// reader is a simulated reader. Its traits follow from its number.
type reader struct {
	address netip.Addr
	agent   string
}

func newReader() reader {
	n := rand.IntN(pool)                                           //nolint:gosec // a simulation
	at := netip.AddrFrom4([4]byte{198, 18, byte(n >> 8), byte(n)}) //nolint:gosec // RFC 2544: nobody's addresses
	return reader{at, agents()[n%len(agents())]}
}

// pick returns a page, the first ones far more often.
func pick(pages []string) string {
	r := rand.Float64() //nolint:gosec // a simulation
	return pages[min(int(r*r*r*float64(len(pages))), len(pages)-1)]
}

func chance(percent int) bool { return rand.IntN(100) < percent } //nolint:gosec // a simulation

func oneOf(values []string) string { return values[rand.IntN(len(values))] } //nolint:gosec // a simulation

// sendRecent sends the hits of the last two days as a server would, more of them in the evening.
func (f *filler) sendRecent(ctx context.Context, secret string) error {
	const batch = 800
	pages := f.pages()
	now := time.Now()
	for range recentHits / batch {
		hits := make([]object, 0, batch)
		for range batch {
			at := now.Add(-time.Duration(rand.Int64N(int64(47 * time.Hour)))) //nolint:gosec // a simulation
			if hour := (at.UTC().Hour() + 7) % 24; hour < 6 && chance(85) {
				at = at.Add(-6 * time.Hour)
			}
			r := newReader()
			hits = append(hits, object{
				"url": pick(pages), "referrer": oneOf(referrers()), "time": at.Format(time.RFC3339),
				"address": r.address.String(), "user_agent": r.agent,
			})
		}
		raw, err := json.Marshal(hits)
		if err != nil {
			return err
		}
		key := http.Header{"Authorization": {"Bearer " + secret}}
		if err := f.hit(ctx, "/v1/batch", raw, loopback(), key); err != nil {
			return err
		}
	}
	return nil
}

// hit sends a hit.
func (c *client) hit(ctx context.Context, path string, raw []byte, from netip.Addr, header http.Header) error {
	header.Set("Content-Type", "application/json")
	r, err := c.serve(ctx, http.MethodPost, path, bytes.NewReader(raw), from, header)
	if err == nil && r.status != http.StatusAccepted {
		err = fmt.Errorf("POST %s: %d %s", path, r.status, strings.TrimSpace(r.body.String()))
	}
	return err
}

// readers simulates readers until ctx ends: they arrive, read for a while, and some follow the links
// of posts.
func (f *filler) readers(ctx context.Context) {
	var open sync.WaitGroup
	defer open.Wait()
	arrive := func(page, referrer string) {
		open.Go(func() {
			if err := f.read(ctx, newReader(), page, referrer); err != nil && ctx.Err() == nil {
				f.Log.DebugContext(ctx, "a simulated reader failed", "error", err)
			}
		})
	}
	for range firstReaders {
		arrive(pick(f.pages()), oneOf(referrers()))
	}
	var links []item
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Duration(rand.Int64N(int64(2 * readerInterval)))): //nolint:gosec // a simulation
		}
		if n%10 == 0 {
			if found, err := f.list(ctx, "/links?limit=50", "links"); err == nil {
				links = found
			}
		}
		if len(links) == 0 || chance(60) {
			arrive(pick(f.pages()), oneOf(referrers()))
			continue
		}
		link := links[rand.IntN(len(links))] //nolint:gosec // a simulation
		if page, err := f.follow(ctx, link); err == nil {
			arrive(page, "")
		}
	}
}

// follow follows a short link and returns where it leads.
func (f *filler) follow(ctx context.Context, link item) (string, error) {
	at, err := url.Parse(link.ShortURL)
	if err != nil {
		return "", err
	}
	who := newReader()
	r, err := f.serve(ctx, http.MethodGet, at.Path, nil, who.address, browser(who))
	if err != nil {
		return "", err
	}
	return r.header.Get("Location"), nil
}

// browser returns the headers of a browser.
func browser(r reader) http.Header {
	return http.Header{
		"User-Agent": {r.agent}, "Accept-Language": {"vi-VN,vi;q=0.9,en;q=0.8"}, "Accept": {"*/*"},
	}
}

// read sends what the tracker of a page sends while somebody reads it.
func (f *filler) read(ctx context.Context, r reader, page, referrer string) error {
	view := strconv.FormatUint(rand.Uint64(), 36) //nolint:gosec // a simulation
	send := func(path string, more object) error {
		message := object{"site": f.site.WriteKey, "url": page}
		for field, value := range more {
			message[field] = value
		}
		raw, err := json.Marshal(message)
		if err != nil {
			return err
		}
		return f.hit(ctx, path, raw, r.address, browser(r))
	}
	if err := send("/v1/view", object{"referrer": referrer, "view": view}); err != nil {
		return err
	}
	engaged, scroll := 0, 0
	for chance(80) {
		const pause = 5 * time.Second
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		engaged += int(pause.Milliseconds())
		scroll = min(100, scroll+10+rand.IntN(20)) //nolint:gosec // a simulation
		if err := send("/v1/heartbeat", object{"view": view, "engaged": engaged, "scroll": scroll}); err != nil {
			return err
		}
	}
	switch {
	case chance(3):
		return send("/v1/event", object{"type": "Đăng ký bản tin", "properties": object{"vị trí": "cuối bài"}})
	case chance(20):
		return f.read(ctx, r, pick(f.pages()), page)
	}
	return nil
}
