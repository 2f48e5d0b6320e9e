package feed_test

import (
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"dateline/internal/news/search"
	"dateline/internal/news/search/feed"
	"dateline/internal/testing/searchtest"
)

func hit(title, url string) search.Hit {
	return search.Hit{Document: search.Document{
		ID: uuid.NewSHA1(uuid.Nil, []byte(url)), Title: title, URL: url,
		Lead: "Lead <b>of</b> it & more", Authors: []string{"Lê Thu Hà"}, Section: "Kinh tế",
		Tags: []string{"giá vàng"}, Language: "vi", Image: "javascript:alert(2)", Published: searchtest.Now(),
	}}
}

// The content of the feeds as a reader parses it.
func TestFeed_RSSAndJSON(t *testing.T) {
	f := feed.Feed{Title: "Gold & <silver>", Home: "https://dateline.example/", Hits: []search.Hit{
		hit(`<script>alert("1")</script> Giá vàng`, "https://baomai.example/vang?a=1&b=2"),
		hit("Bad link", "javascript:alert(1)"),
	}}
	rss, err := f.RSS()
	if err != nil {
		t.Fatal(err)
	}
	asJSON, err := f.JSON()
	if err != nil {
		t.Fatal(err)
	}
	for name, raw := range map[string][]byte{"RSS": rss, "JSON": asJSON} {
		read, err := searchtest.ReadFeed(raw)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, raw)
		}
		first := read.Items[0]
		require.Equal(t, "Gold & <silver>", read.Title, "%s is parsed as %+v, %+v", name, read, first)
		require.Len(t, read.Items, 2, "%s is parsed as %+v, %+v", name, read, first)
		require.Equal(t, "https://baomai.example/vang?a=1&b=2", first.Link, "%s is parsed as %+v, %+v", name, read,
			first)
		require.WithinDuration(t, searchtest.Now(), first.Published, 0, "%s is parsed as %+v, %+v", name, read, first)
		require.Equal(t, "Lê Thu Hà", first.Author, "%s is parsed as %+v, %+v", name, read, first)
		require.Len(t, first.Categories, 2, "%s is parsed as %+v, %+v", name, read, first)
		require.True(t, strings.HasPrefix(first.ID, "urn:uuid:"), "%s is parsed as %+v, %+v", name, read, first)
		require.Empty(t, read.Items[1].Link, "%s is parsed as %+v, %+v", name, read, first)
		if strings.Contains(string(raw), "javascript:") || strings.Contains(string(rss), "<script") {
			t.Errorf("%s holds something that runs:\n%s", name, raw)
		}
	}
}

// Titles are plain text in both formats: feedparser 6.0 and rss-parser 3.13 show what is
// escaped twice as it is. Descriptions are HTML.
func TestFeed_TitlesAreEscapedOnce(t *testing.T) {
	for _, title := range []string{
		"A & B <c>", "&amp; as an entity", `"Quoted" 'title' > 1`, "AT&T",
		"]]> ends nothing",
	} {
		f := feed.Feed{Title: title, Home: "https://dateline.example/", Hits: []search.Hit{
			hit(title, "https://baomai.example/a"),
		}}
		raw, err := f.RSS()
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Title string `xml:"channel>title"`
			Item  struct {
				Title       string `xml:"title"`
				Description string `xml:"description"`
			} `xml:"channel>item"`
		}
		if err := xml.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		if got.Title != title || got.Item.Title != title ||
			got.Item.Description != "Lead &lt;b&gt;of&lt;/b&gt; it &amp; more" {
			t.Errorf("%s: got %+v", title, got)
		}
	}
}

func FuzzFeeds(f *testing.F) {
	f.Add("Title ]]> \x00 \xff", "https://x.example/\"><x")
	f.Fuzz(func(t *testing.T, title, url string) {
		one := feed.Feed{Title: title, Home: "https://x.example/", Hits: []search.Hit{hit(title, url)}}
		raw, err := one.RSS()
		if err != nil {
			t.Fatal(err)
		}
		if err := xml.Unmarshal(raw, new(struct{ Channel struct{ Title string } })); err != nil {
			t.Errorf("%v:\n%s", err, raw)
		}
		if raw, err = one.JSON(); err != nil || !json.Valid(raw) {
			t.Errorf("%s, %v", raw, err)
		}
	})
}
