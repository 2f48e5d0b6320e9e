package discover_test

import (
	"reflect"
	"strings"
	"testing"

	"dateline/internal/news/crawl/discover"
)

func TestFindHubs_ReadsHeadersBeforeTheDocument(t *testing.T) {
	const at = "https://news.example/feed.xml"
	atom := `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><link rel="hub" href="https://hub.example/"/><link rel="self" href="/feed.xml?full"/>
		<entry><link rel="hub" href="https://other.example/"/><link rel="self" href="/a"/></entry></feed>`
	for name, c := range map[string]struct {
		links []string
		doc   string
		want  discover.HubLinks
	}{
		"Atom": {
			nil, atom, discover.HubLinks{
				Hubs: []string{"https://hub.example/"}, Self: "https://news.example/feed.xml?full",
			},
		},
		"RSS": {
			nil,
			`<rss><channel><atom:link rel="hub" href="https://hub.example/"/><atom:link href="https://www.news.example/f" rel="SELF"/><link>https://news.example</link></channel></rss>`,
			discover.HubLinks{Hubs: []string{"https://hub.example/"}, Self: "https://www.news.example/f"},
		},
		"JSON Feed": {
			nil,
			`{"version":"https://jsonfeed.org/version/1.1","feed_url":"https://news.example/f.json","hubs":[{"type":"WebSub","url":"https://hub.example/"}],"items":[]}`,
			discover.HubLinks{Hubs: []string{"https://hub.example/"}, Self: "https://news.example/f.json"},
		},
		"headers": {
			[]string{
				`<https://a.example/>; rel="hub", </self>; rel=self`,
				`<https://b.example/>; title="a, \"b\"; rel=x"; rel="other hub"`,
			}, atom, discover.HubLinks{
				Hubs: []string{"https://a.example/", "https://b.example/"}, Self: "https://news.example/self",
			},
		},
		"a hub in the headers only": {
			[]string{`<https://a.example/>;rel=hub`}, atom, discover.HubLinks{
				Hubs: []string{"https://a.example/"}, Self: "https://news.example/feed.xml?full",
			},
		},
		"links of another page": {
			[]string{`<https://a.example/>; rel=hub; anchor="/x"`}, "<rss></rss>", discover.HubLinks{},
		},
		"no self": {
			nil, `<rss><channel><atom:link rel="hub" href="https://hub.example/"/></channel></rss>`,
			discover.HubLinks{Hubs: []string{"https://hub.example/"}, Self: at},
		},
		"no hub": {
			[]string{`</self>; rel=self`},
			`<rss><channel><atom:link rel="self" href="/hub"/></channel></rss>`,
			discover.HubLinks{},
		},
		"addresses that are not HTTP": {
			[]string{`<ftp://a.example/>; rel=hub, <javascript:x>; rel=hub`}, ``, discover.HubLinks{},
		},
		"an unfinished header": {
			[]string{`<https://a.example/>; rel="hub`, `<https://b.example`, `<`, `;;=,`},
			``,
			discover.HubLinks{Hubs: []string{"https://a.example/"}, Self: at},
		},
		"a repeated hub, and too many": {
			[]string{strings.Repeat(`<https://a.example/>; rel=hub, `, 3) +
				`<//1.example/>;rel=hub,<//2.example/>;rel=hub,<//3.example/>;rel=hub,<//4.example/>;rel=hub,<//5.example/>;rel=hub`}, ``, discover.HubLinks{Hubs: []string{"https://a.example/", "https://1.example/", "https://2.example/", "https://3.example/", "https://4.example/"}, Self: at},
		},
	} {
		got := discover.FindHubs(c.links, []byte(c.doc), at)
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

func FuzzFindHubs(f *testing.F) {
	f.Add(`<https://a.example/>; rel="hub", </self>; rel=self`,
		[]byte(`<feed><link rel="hub" href="https://hub.example/"/><entry/></feed>`))
	f.Add(`<x>; rel="a\"b`, []byte(`{"hubs":[{"url":"https://hub.example/"}]}`))
	f.Fuzz(func(t *testing.T, link string, doc []byte) {
		got := discover.FindHubs([]string{link}, doc, "https://news.example/feed")
		if len(got.Hubs) > 5 || (len(got.Hubs) == 0) != (got.Self == "") {
			t.Errorf("got %+v, want at most five hubs, and the feed's address if there are hubs", got)
		}
		for _, u := range append(got.Hubs, got.Self) {
			if u != "" && !strings.HasPrefix(u, "http://") && !strings.HasPrefix(u, "https://") {
				t.Errorf("got the address %q, want HTTP", u)
			}
		}
	})
}
