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

// Article is an article, as the World knows it.
type Article struct {
	Site        int
	Number      int    // counts from 1 on each site
	URL         string // canonical
	Title       string
	Body        string // its paragraphs, with an empty line between
	Author      string
	PublishedAt time.Time
	Edits       int
}

// Site is one news site.
type Site struct {
	world  *World
	number int
	host   string

	mu          sync.Mutex
	articles    []Article // in order of publication
	served      int       // how many pages were made: templates show it
	churn       int       // how often the template changed
	robots      string    // empty: made from the options
	listsHidden bool      // it names neither feeds nor sitemaps
	fault       fault
	removed     map[int]int // numbers of articles to the status that their pages answer with
}

// fault is what is wrong with a site at the moment.
type fault struct {
	status     int // that all requests are answered with; 0: none
	retryAfter string
	until      time.Time // zero: until it is lifted
	latency    time.Duration
}

func newSite(w *World, number int) *Site {
	s := &Site{world: w, number: number, host: fmt.Sprintf("site-%04d.test", number)}
	now := w.options.Now()
	for i := range w.options.Articles {
		s.add(now.Add(-time.Duration(w.options.Articles-i) * time.Hour))
	}
	return s
}

// Host is the site's name, its registered domain too.
func (s *Site) Host() string { return s.host }

// URL is the address of a path on the site.
func (s *Site) URL(path string) string { return s.world.url(s.host, path) }

// Home is the address of its front page.
func (s *Site) Home() string { return s.URL("/") }

// Hubs are the addresses of the front page and the sections.
func (s *Site) Hubs() []string {
	hubs := []string{s.Home()}
	for _, name := range sectionNames()[:s.world.options.Sections] {
		hubs = append(hubs, s.URL("/"+name))
	}
	return hubs
}

// FeedURL is the address of its RSS feed.
func (s *Site) FeedURL() string { return s.URL("/rss/tin-moi-nhat.rss") }

// Publish brings out one more article, now.
func (s *Site) Publish() Article {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.add(s.world.options.Now())
}

// Edit changes the text of an article; its URL stays.
func (s *Site) Edit(number int) Article {
	s.mu.Lock()
	defer s.mu.Unlock()
	article := &s.articles[number-1]
	article.Edits++
	article.Body += fmt.Sprintf("\n\nCập nhật lần thứ %d của bài viết này.", article.Edits)
	return *article
}

// Remove has the page of an article answer with a status (404, 410) from now
// on, and no hub shows it. A redirect (302) leads to the front page; 200 brings
// the article back.
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

// Move gives an article another address, to which the old one redirects.
func (s *Site) Move(number int) Article {
	s.mu.Lock()
	defer s.mu.Unlock()
	article := &s.articles[number-1]
	at := strings.LastIndexByte(article.URL, '/')
	article.URL = article.URL[:at] + "/moved-" + article.URL[at+1:]
	return *article
}

// Articles are all that were published, the oldest first.
func (s *Site) Articles() []Article {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.articles)
}

// Articles are the articles of all sites.
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

// HideLists has the site name its feed and its sitemaps nowhere: what is new is
// on its hubs alone.
func (s *Site) HideLists() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listsHidden = true
}

// SetRobots replaces robots.txt. What Impolite reports does not follow it.
func (s *Site) SetRobots(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.robots = text
}

// Throttle answers everything with status (429, 503) and Retry-After until the
// pause is over. Requests in the meantime are impolite, see World.Impolite.
func (s *Site) Throttle(status int, pause time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// Retry-After has whole seconds; what is asked for is asked for in full.
	seconds := int((pause + time.Second - 1) / time.Second)
	s.fault.status, s.fault.retryAfter = status, strconv.Itoa(seconds)
	s.fault.until = s.world.options.Now().Add(pause)
}

// Fail answers everything with this status, until Fail(0).
func (s *Site) Fail(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault.status, s.fault.retryAfter, s.fault.until = status, "", time.Time{}
}

// Slow lets every answer wait.
func (s *Site) Slow(latency time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault.latency = latency
}

// add is called with the lock held, or before the site is shown to anyone.
func (s *Site) add(at time.Time) Article {
	number := len(s.articles) + 1
	lot := rand.New(rand.NewPCG(s.world.options.Seed, uint64(s.number)<<32|uint64(number))) //nolint:gosec // not for secrets
	title := sentence(lot, s.world.words, 8+lot.IntN(5))
	section := sectionNames()[number%s.world.options.Sections]
	path := fmt.Sprintf("/%s/%s-%d.html", section, slug(title), firstID+number)
	article := Article{Site: s.number, Number: number, URL: s.URL(path), Title: title, Body: body(lot, s.world.words, s.world.options.BodyWords),
		Author: authors()[lot.IntN(len(authors()))], PublishedAt: at.Truncate(time.Millisecond)}
	s.articles = append(s.articles, article)
	return article
}

// firstID makes article numbers look like those of a site with a past.
const firstID = 4800000

// latest are the newest articles of a section ("" for all), newest first.
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
