package ingest_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/site"
	"dateline/internal/testing/enginetest"
)

// After hits of all kinds, no reader's address, user agent, login or cookie is in
// Redis, Postgres or the log. The test searches for the bytes and the usual notations
// of addresses, and checks that the search finds a known value.
func TestIngest_StoresNoPersonalData(t *testing.T) {
	d := open(t)
	const secretAgent = "Mozilla/5.0 (Linux; Android 10; UnusualPhone77) AppleWebKit/537.36 (KHTML, like Gecko) " +
		"Chrome/120.0.0.0 Mobile Safari/537.36"
	four, six := netip.MustParseAddr("198.51.100.77"), netip.MustParseAddr("2001:db8:77:88:99aa:bbcc:ddee:ff01")
	robot := "UnusualRobotbot/9.1"
	for _, way := range []counter.UniqueMethod{counter.Set, counter.SetPerDay, counter.HyperLogLog, counter.Bitmap} {
		s, secret := d.Site(func(s *site.Site) {
			s.UniqueMethod, s.Visitors, s.RateHits = way, site.Cookie, 4
			if way == counter.Bitmap {
				s.MaxID = 1 << 20
			}
		})
		for _, address := range []netip.Addr{four, six} {
			browser := []string{"X-Forwarded-For", address.String(), "User-Agent", secretAgent}
			for range 6 { // above the rate limit
				d.view(s, "/known-page", browser...)
			}
			d.view(s, "/known-page", "X-Forwarded-For", address.String(), "User-Agent", robot)
			d.view(s, "/known-page", append(browser, "DNT", "1")...)
			user := "unusual-reader-77"
			if way == counter.Bitmap {
				user = "770077"
			}
			d.send("POST", "/v1/event", `{"type":"click","site":"`+s.WriteKey+`","page":"/known-page","user":"`+user+
				`","visitor":"unusual-cookie-77"}`, browser...)
			d.send("POST", "/v1/event", `{"type":"conversion","site":"`+s.WriteKey+
				`","page":"/known-page","visitor":"unusual-cookie-77"}`, browser...)
			d.send("POST", "/v1/view", `{"site":"`+s.WriteKey+`","page":`, browser...)
			d.send("POST", "/v1/view", `{"site":"nobody","page":"/known-page"}`, browser...)
			d.send("GET", "/v1/pixel.gif"+query("site", s.WriteKey, "page", "/known-page"), "", browser...)
			a := d.send("POST", "/v1/batch",
				fmt.Sprintf(
					`[{"page":"/known-page","address":%q,"user_agent":%q,"visitor":"unusual-cookie-77"},{"address":%q}]`, address, secretAgent, address),
				"Authorization", "Bearer "+secret)
			if a.StatusCode != http.StatusAccepted || strings.Contains(a.body, address.String()) {
				t.Errorf("%s %s", a.Status, a.body)
			}
		}
		d.stats(s, "/known-page") // aggregates
	}
	stored := d.storedData()
	d.StopRedis() // uncounted hits are logged
	s, _ := d.Site()
	d.send("POST", "/v1/view", `{"site":"`+s.WriteKey+`","page":"/known-page"}`, "X-Forwarded-For", four.String(),
		"User-Agent", secretAgent)
	stored["log"] = d.log.String()
	for place, known := range map[string]string{
		"redis": "/known-page", "postgres": d.Workspace.Name,
		"log": "a hit was not counted",
	} {
		if !strings.Contains(stored[place], known) {
			t.Errorf("the search does not find %q in %s", known, place)
		}
	}
	raw4, raw6 := four.As4(), six.As16()
	for place, content := range stored {
		for _, private := range []string{
			four.String(), six.String(), six.StringExpanded(), "2001:db8:77:88",
			string(raw4[:]), string(raw6[:]), string(raw6[:8]),
			hex.EncodeToString(raw4[:]), hex.EncodeToString(raw6[:8]), base64.RawURLEncoding.EncodeToString(raw6[:6]),
			secretAgent, "UnusualPhone77", "UnusualRobot", "unusual-reader-77", "unusual-cookie-77",
		} {
			if at := strings.Index(content, private); at >= 0 {
				t.Errorf("%s contains %q: …%q…", place, private, content[max(0, at-60):min(len(content), at+60)])
			}
		}
	}
}

// storedData returns all stored data.
func (d *fixture) storedData() map[string]string {
	d.t.Helper()
	var redis, postgres strings.Builder
	client := enginetest.RedisClient(d.t, d.RedisURL)
	keys, err := client.Keys(d.t.Context(), "*").Result()
	d.Must(err)
	for _, key := range keys {
		redis.WriteString(key + "\n")
		kind, err := client.Type(d.t.Context(), key).Result()
		d.Must(err)
		var value any
		switch kind {
		case "string":
			value, err = client.Get(d.t.Context(), key).Result()
		case "hash":
			value, err = client.HGetAll(d.t.Context(), key).Result()
		case "set":
			value, err = client.SMembers(d.t.Context(), key).Result()
		case "zset":
			value, err = client.ZRangeWithScores(d.t.Context(), key, 0, -1).Result()
		case "list":
			value, err = client.LRange(d.t.Context(), key, 0, -1).Result()
		default:
			d.t.Fatalf("%s is a %s", key, kind)
		}
		d.Must(err)
		_, _ = fmt.Fprintf(&redis, "%v\n", value)
	}
	c, err := pgx.Connect(d.t.Context(), d.DatabaseURL)
	d.Must(err)
	defer func() { _ = c.Close(context.WithoutCancel(d.t.Context())) }()
	rows, err := c.Query(d.t.Context(),
		"select table_name::text from information_schema.tables where table_schema = 'public'")
	d.Must(err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	d.Must(err)
	for _, table := range tables {
		rows, err := c.Query(d.t.Context(), "select r::text from "+pgx.Identifier{table}.Sanitize()+" r")
		d.Must(err)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		d.Must(err)
		postgres.WriteString(table + "\n" + strings.Join(lines, "\n") + "\n")
	}
	return map[string]string{"redis": redis.String(), "postgres": postgres.String()}
}
