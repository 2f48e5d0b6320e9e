package crawltest

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Article is a published article.
type Article struct {
	Site        int
	Number      int    // starts at 1 on each site
	URL         string // canonical
	Title       string
	Body        string // paragraphs, separated by empty lines
	Author      string
	PublishedAt time.Time
	Edits       int
	Section     string // of a readable article
	Language    string // empty: that of the site
}

// Site is a news site.
type Site struct {
	world  *World
	number int
	host   string

	mu          sync.Mutex
	articles    []Article // in order of publication
	served      int       // pages served; shown in templates
	churn       int       // number of template changes
	robots      string    // empty: generated from the options
	tdm         string    // tdmrep.json; empty: none
	feedHub     string    // that the feed names; empty: none
	listsHidden bool      // feeds and sitemaps are not linked
	fault       fault
	removed     map[int]int // status of removed articles by number
}

// fault is an injected fault.
type fault struct {
	status     int // status of all responses; 0: no fault
	retryAfter string
	until      time.Time // zero: until it is cleared
	latency    time.Duration
}

func newSite(w *World, number int) *Site {
	s := &Site{world: w, number: number, feedHub: w.options.Hub, host: fmt.Sprintf("site-%04d.test", number)}
	if number < len(w.options.Hosts) {
		s.host = w.options.Hosts[number]
	}
	now := w.options.Now()
	for i := range w.options.Articles {
		s.add(now.Add(-time.Duration(w.options.Articles-i) * time.Hour))
	}
	return s
}

// Host is the host name and registered domain of the site.
func (s *Site) Host() string { return s.host }

// URL returns the URL of a path on the site.
func (s *Site) URL(path string) string { return s.world.url(s.host, path) }

// Home is the URL of the front page.
func (s *Site) Home() string { return s.URL("/") }

// Hubs returns the URLs of the front page and the sections.
func (s *Site) Hubs() []string {
	hubs := []string{s.Home()}
	for _, name := range sectionNames()[:s.world.options.Sections] {
		hubs = append(hubs, s.URL("/"+name))
	}
	return hubs
}

// FeedURL is the URL of the RSS feed.
func (s *Site) FeedURL() string { return s.URL("/rss/tin-moi-nhat.rss") }

// Publish publishes an article.
func (s *Site) Publish() Article {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.add(s.world.options.Now())
}

// Write publishes an article with the given language, section, title and text.
func (s *Site) Write(a Article) Article {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.put(a, s.world.options.Now())
}

// Edit changes the text of an article, but not its URL.
func (s *Site) Edit(number int) Article {
	s.mu.Lock()
	defer s.mu.Unlock()
	article := &s.articles[number-1]
	article.Edits++
	article.Body += fmt.Sprintf("\n\nCập nhật lần thứ %d của bài viết này.", article.Edits)
	return *article
}

// Remove makes the page of an article respond with a status (404, 410) and
// removes it from all hubs. A redirect (302) leads to the front page; 200
// restores the article.
func (s *Site) Remove(number, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.removed == nil {
		s.removed = map[int]int{}
	}
	s.removed[number] = status
	if status == http.StatusOK {
		delete(s.removed, number)
	}
}

// Move changes the URL of an article. The old URL redirects to it.
func (s *Site) Move(number int) Article {
	s.mu.Lock()
	defer s.mu.Unlock()
	article := &s.articles[number-1]
	at := strings.LastIndexByte(article.URL, '/')
	article.URL = article.URL[:at] + "/moved-" + article.URL[at+1:]
	return *article
}

// Articles returns all articles, oldest first.
func (s *Site) Articles() []Article {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.articles)
}

// Articles returns the articles of all sites.
func (w *World) Articles() []Article {
	var all []Article
	for _, s := range w.sites {
		all = append(all, s.Articles()...)
	}
	return all
}

// Churn changes the template of the site's pages, but no article.
func (s *Site) Churn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.churn++
}

// HideLists removes all links to feeds and sitemaps, so that new articles can
// be found only on hubs.
func (s *Site) HideLists() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listsHidden = true
}

// SetHub changes the WebSub hub that the feed names; empty: it names none.
func (s *Site) SetHub(hub string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.feedHub = hub
}

// Hub is the WebSub hub that the feed names.
func (s *Site) Hub() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.feedHub
}

// SetRobots replaces robots.txt. PolitenessViolations still checks the original
// rules.
func (s *Site) SetRobots(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.robots = text
}

// SetTDM sets /.well-known/tdmrep.json.
func (s *Site) SetTDM(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tdm = text
}

func (s *Site) tdmText() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tdm
}

// Throttle responds to everything with status (429, 503) and Retry-After for a
// while. Requests in this time are reported by World.PolitenessViolations.
func (s *Site) Throttle(status int, pause time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// Retry-After has whole seconds and is rounded up.
	seconds := int((pause + time.Second - 1) / time.Second)
	s.fault.status, s.fault.retryAfter = status, strconv.Itoa(seconds)
	s.fault.until = s.world.options.Now().Add(pause)
}

// Fail responds to everything with this status, until Fail(0).
func (s *Site) Fail(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault.status, s.fault.retryAfter, s.fault.until = status, "", time.Time{}
}

// Slow delays every response.
func (s *Site) Slow(latency time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault.latency = latency
}

// add must be called with the lock held, or before the site is shared.
func (s *Site) add(at time.Time) Article {
	number := len(s.articles) + 1
	rng := rand.New(rand.NewPCG(s.world.options.Seed, uint64(s.number)<<32|uint64(number))) //nolint:gosec // not for secrets
	var title, text, topic string
	names := authors()
	if desk, ok := s.desk(); ok {
		topic, title, text = desk.write(rng, number+s.number*len(desk.stories))
		names = desk.names
	} else {
		title, text = sentence(rng, s.world.words, 8+rng.IntN(5)), body(rng, s.world.words, s.world.options.BodyWords)
	}
	return s.put(Article{Title: title, Body: text, Section: topic, Author: names[rng.IntN(len(names))]}, at)
}

// put adds an article under the next number.
func (s *Site) put(a Article, at time.Time) Article {
	a.Site, a.Number, a.PublishedAt = s.number, len(s.articles)+1, at.Truncate(time.Millisecond)
	section := sectionNames()[a.Number%s.world.options.Sections]
	a.URL = s.URL(fmt.Sprintf("/%s/%s-%d.html", section, slug(a.Title), firstID+a.Number))
	s.articles = append(s.articles, a)
	return a
}

// desk returns who writes the site's articles; false if they are random words.
func (s *Site) desk() (newsdesk, bool) {
	if len(s.world.desks) == 0 {
		return newsdesk{}, false
	}
	if s.number%3 == 2 {
		return s.world.desks[1], true
	}
	return s.world.desks[0], true
}

// firstID makes article IDs look like those of an established site.
const firstID = 4800000

// latest returns the newest articles of a section ("" for all), newest first.
func (s *Site) latest(section string, from, count int) []Article {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Article
	for i := len(s.articles) - 1; i >= 0 && len(found) < count; i-- {
		if section != "" && !strings.Contains(s.articles[i].URL, "/"+section+"/") || s.removed[i+1] != 0 {
			continue
		}
		if from > 0 {
			from--
			continue
		}
		found = append(found, s.articles[i])
	}
	return found
}
