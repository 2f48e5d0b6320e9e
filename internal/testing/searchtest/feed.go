package searchtest

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"time"
)

// Feed is a feed as a reader sees it.
type Feed struct {
	Title string
	Items []FeedItem
}

// FeedItem is an article of a feed.
type FeedItem struct {
	ID, Title, Link, Author string
	Categories              []string
	Published               time.Time
}

// ReadFeed reads RSS 2.0 and JSON Feed 1.1 with the fields of their specifications.
func ReadFeed(raw []byte) (f Feed, err error) {
	if bytes.HasPrefix(raw, []byte("{")) {
		return readJSON(raw)
	}
	var rss struct {
		XMLName xml.Name `xml:"rss"`
		Version string   `xml:"version,attr"`
		Channel struct {
			Title string `xml:"title"`
			Link  string `xml:"link"`
			Items []struct {
				Title      string   `xml:"title"`
				Link       string   `xml:"link"`
				GUID       string   `xml:"guid"`
				Creator    string   `xml:"http://purl.org/dc/elements/1.1/ creator"`
				Categories []string `xml:"category"`
				Date       string   `xml:"pubDate"`
			} `xml:"item"`
		} `xml:"channel"`
	}
	if err := xml.Unmarshal(raw, &rss); err != nil {
		return f, err
	}
	f.Title = rss.Channel.Title
	for _, i := range rss.Channel.Items {
		at, err := time.Parse(time.RFC1123Z, i.Date)
		if err != nil {
			return f, err
		}
		f.Items = append(f.Items, FeedItem{
			ID: i.GUID, Title: i.Title, Link: i.Link, Author: i.Creator, Categories: i.Categories, Published: at,
		})
	}
	return f, nil
}

func readJSON(raw []byte) (f Feed, err error) {
	var in struct {
		Title string
		Items []struct {
			ID        string
			URL       string
			Title     string
			Published time.Time `json:"date_published"`
			Tags      []string
			Authors   []struct{ Name string }
		}
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return f, err
	}
	f.Title = in.Title
	for _, i := range in.Items {
		one := FeedItem{ID: i.ID, Title: i.Title, Link: i.URL, Categories: i.Tags, Published: i.Published}
		if len(i.Authors) > 0 {
			one.Author = i.Authors[0].Name
		}
		f.Items = append(f.Items, one)
	}
	return f, nil
}
