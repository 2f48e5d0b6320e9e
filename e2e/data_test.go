package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"dateline/internal/embedded"
	"dateline/internal/testing/e2etest"
)

// number returns the result of a query on the database of the program.
func (d *dateline) number(sql string) (n int) {
	d.t.Helper()
	url, err := embedded.RunningDatabase(d.dataDir())
	if err != nil {
		d.t.Fatal(err)
	}
	c, err := pgx.Connect(d.t.Context(), url)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = c.Close(d.t.Context()) }()
	if err := c.QueryRow(d.t.Context(), sql).Scan(&n); err != nil {
		d.t.Fatal(err)
	}
	return n
}

// counted is a page with readers.
type counted struct {
	d     *dateline
	path  string
	views int
}

func (d *dateline) readerCounts() counted {
	d.t.Helper()
	id, key := d.site("Báo")
	c := counted{d: d, path: "/api/v1/sites/" + id + "/pages/stats?page=/bai-viet"}
	for i := range 3 {
		if err := d.hits(key, "/bai-viet", i, 1); err != nil {
			d.t.Fatal(err)
		}
		c.views++
	}
	return c
}

// site creates a site that counts readers and returns its id and key.
func (d *dateline) site(name string) (id, key string) {
	d.t.Helper()
	var made struct {
		Key  string `json:"secret_key"`
		Site struct {
			ID string `json:"id"`
		} `json:"site"`
	}
	if status := d.call(http.MethodPost, "/api/v1/sites", map[string]any{"name": name},
		&made); status != http.StatusCreated {
		d.t.Fatalf("creating a site: %d", status)
	}
	return made.Site.ID, made.Key
}

// hits sends views of so many readers, from a server.
func (d *dateline) hits(key, page string, reader, n int) error {
	var hits []map[string]any
	for i := range n {
		hits = append(hits, map[string]any{
			"page": page, "user": fmt.Sprintf("reader %d", reader+i),
			"address":    fmt.Sprintf("203.0.%d.%d", (reader+i)/250%250, (reader+i)%250),
			"user_agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
		})
	}
	raw, err := json.Marshal(hits)
	if err != nil {
		return err
	}
	request, err := http.NewRequest(http.MethodPost, d.API+"/v1/batch", bytes.NewReader(raw))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	said, err := io.ReadAll(answer.Body)
	var counted struct{ Counted int }
	if err == nil {
		err = json.Unmarshal(said, &counted)
	}
	if err == nil && (answer.StatusCode != http.StatusAccepted || counted.Counted != n) {
		err = fmt.Errorf("%d views: %s: %s", n, answer.Status, said)
	}
	return err
}

func (c counted) read() (views int, said json.RawMessage) {
	c.d.t.Helper()
	c.d.call(http.MethodGet, c.path, nil, &said)
	var stats struct {
		Pages []struct {
			Views int `json:"views"`
		} `json:"pages"`
	}
	if err := json.Unmarshal(said, &stats); err != nil || len(stats.Pages) == 0 {
		return 0, said
	}
	return stats.Pages[0].Views, said
}

// wait waits until the API shows so many views.
func (c counted) wait(within time.Duration) {
	c.d.t.Helper()
	var said json.RawMessage
	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		var views int
		if views, said = c.read(); views == c.views {
			return
		}
	}
	c.d.t.Errorf("the API shows no %d views after %s, but %s", c.views, within, said)
}

// settled waits until the counts are in the database.
func (c counted) settled() {
	c.d.t.Helper()
	c.wait(20 * time.Second)
	e2etest.Eventually(c.d.t, 150*time.Second, "the counts to be in the database", func() bool {
		return c.d.number("select coalesce(sum(views), 0) from view_pages where page = '/bai-viet'") == c.views
	})
}

// same checks that the readers' counts are unchanged.
func (c counted) same() {
	c.d.t.Helper()
	c.wait(120 * time.Second)
}

// crawled is a site whose pages are stored.
type crawled struct {
	d      *dateline
	name   string
	stored int
}

func (d *dateline) crawl(home string) crawled {
	d.t.Helper()
	if status := d.call(http.MethodPost, "/api/v1/seeds", map[string]any{"url": home + "/", "min_interval_seconds": 60},
		nil); status != http.StatusCreated {
		d.t.Fatalf("creating a seed: %d", status)
	}
	c := crawled{d: d}
	e2etest.Eventually(d.t, 150*time.Second, "the article to be stored", func() bool {
		c.name, c.stored = d.domain()
		return c.stored >= 1
	})
	return c
}

func (d *dateline) domain() (name string, stored int) {
	var all struct {
		Domains []struct {
			Domain string `json:"domain"`
			Stored int    `json:"stored"`
		} `json:"domains"`
	}
	d.call(http.MethodGet, "/api/v1/domains", nil, &all)
	if len(all.Domains) == 0 {
		return "", 0
	}
	return all.Domains[0].Domain, all.Domains[0].Stored
}

// same checks that the pages are still there, including their bytes.
func (c crawled) same() {
	c.d.t.Helper()
	if _, stored := c.d.domain(); stored < c.stored {
		c.d.t.Errorf("%d pages of %s are stored, were %d", stored, c.name, c.stored)
	}
	request, err := http.NewRequest(http.MethodGet,
		c.d.API+"/api/v1/domains/"+c.name+"/warc?from=2020-01-01T00:00:00Z&to=2100-01-01T00:00:00Z", nil)
	if err != nil {
		c.d.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.d.Token)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		c.d.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	var warc bytes.Buffer
	_, _ = warc.ReadFrom(answer.Body)
	if answer.StatusCode != http.StatusOK || warc.Len() < 500 {
		c.d.t.Errorf("the pages of %s: %d, %d bytes", c.name, answer.StatusCode, warc.Len())
	}
}
