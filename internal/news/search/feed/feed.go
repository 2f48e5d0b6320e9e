// Package feed renders search hits as RSS 2.0
// (https://www.rssboard.org/rss-specification) or JSON Feed 1.1
// (https://www.jsonfeed.org/version/1.1/). Descriptions of pages are escaped as HTML.
package feed

import (
	"encoding/json"
	"encoding/xml"
	"net/url"
	"strings"
	"time"

	"dateline/internal/news/search"
)

// Feed is a list of articles, the newest first.
type Feed struct {
	Title string
	Home  string // URL of the search
	Hits  []search.Hit
}

type rss struct {
	XMLName xml.Name `xml:"rss"`
	Version string   `xml:"version,attr"`
	Creator string   `xml:"xmlns:dc,attr"`
	Channel channel  `xml:"channel"`
}

type channel struct {
	Title       string `xml:"title"`
	Link        string `xml:"link"`
	Description string `xml:"description"`
	Built       string `xml:"lastBuildDate,omitempty"`
	Generator   string `xml:"generator"`
	Items       []item `xml:"item"`
}

type item struct {
	Title       string   `xml:"title"`
	Link        string   `xml:"link,omitempty"`
	Description string   `xml:"description,omitempty"`
	Creators    []string `xml:"dc:creator"`
	Categories  []string `xml:"category"`
	GUID        guid     `xml:"guid"`
	Published   string   `xml:"pubDate"`
}

type guid struct {
	Permalink bool   `xml:"isPermaLink,attr"`
	ID        string `xml:",chardata"`
}

// RSS renders the feed as RSS 2.0.
func (f Feed) RSS() ([]byte, error) {
	out := rss{Version: "2.0", Creator: "http://purl.org/dc/elements/1.1/", Channel: channel{
		Title: f.Title, Link: f.Home, Description: "Articles found by the search " + f.Title, Generator: "Dateline",
		Items: []item{},
	}}
	for _, h := range f.Hits {
		out.Channel.Items = append(out.Channel.Items,
			item{
				Title: h.Title, Link: webURL(h.URL), Description: escapeHTML(h.Lead), Creators: h.Authors,
				Categories: categories(h),
				GUID:       guid{ID: "urn:uuid:" + h.ID.String()}, Published: h.Published.UTC().Format(time.RFC1123Z),
			})
	}
	if len(f.Hits) > 0 {
		out.Channel.Built = f.Hits[0].Published.UTC().Format(time.RFC1123Z)
	}
	raw, err := xml.MarshalIndent(out, "", " ")
	return append([]byte(xml.Header), raw...), err
}

// escapeHTML escapes a description, which may contain HTML. A title is plain text: readers
// such as feedparser 6.0 and rss-parser 3.13 show a second escape as it is.
func escapeHTML(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}

type jsonFeed struct {
	Version string     `json:"version"`
	Title   string     `json:"title"`
	Home    string     `json:"home_page_url,omitempty"`
	Items   []jsonItem `json:"items"`
}

type jsonItem struct {
	ID        string       `json:"id"`
	URL       string       `json:"url,omitempty"`
	Title     string       `json:"title"`
	Text      string       `json:"content_text"`
	Image     string       `json:"image,omitempty"`
	Published string       `json:"date_published"`
	Authors   []jsonAuthor `json:"authors,omitempty"`
	Tags      []string     `json:"tags,omitempty"`
	Language  string       `json:"language,omitempty"`
}

type jsonAuthor struct {
	Name string `json:"name"`
}

// JSON renders the feed as JSON Feed 1.1.
func (f Feed) JSON() ([]byte, error) {
	out := jsonFeed{Version: "https://jsonfeed.org/version/1.1", Title: f.Title, Home: f.Home, Items: []jsonItem{}}
	for _, h := range f.Hits {
		one := jsonItem{
			ID: "urn:uuid:" + h.ID.String(), URL: webURL(h.URL), Title: h.Title, Text: h.Lead,
			Image: webURL(h.Image), Published: h.Published.UTC().Format(time.RFC3339), Tags: categories(h),
			Language: h.Language,
		}
		for _, a := range h.Authors {
			one.Authors = append(one.Authors, jsonAuthor{a})
		}
		out.Items = append(out.Items, one)
	}
	return json.Marshal(out)
}

func categories(h search.Hit) []string {
	out := []string{}
	if h.Section != "" {
		out = append(out, h.Section)
	}
	return append(out, h.Tags...)
}

// webURL returns an http or https URL, or an empty string.
func webURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return u.String()
}
