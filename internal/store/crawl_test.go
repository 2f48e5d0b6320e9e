package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/crawl"
	"dateline/internal/crawl/weburl"
	"dateline/internal/post"
	"dateline/internal/store"
)

func webURL(t *testing.T, text string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(text, weburl.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// seed makes a seed of a workspace, and gives its domain.
func (n *newsroom) seed(workspace uuid.UUID, address string, change ...func(*crawl.Seed)) (crawl.Seed, crawl.Domain) {
	n.t.Helper()
	s := crawl.Seed{ID: newID(), WorkspaceID: workspace, URL: webURL(n.t, address), Kind: crawl.Home, Status: crawl.Active, Priority: 50,
		Min: 5 * time.Minute, Max: 20 * time.Minute, Every: 15 * time.Minute, Rules: crawl.Rules{Depth: 1}}
	for _, f := range change {
		f(&s)
	}
	made, _, err := n.CreateSeeds(n.t.Context(), []crawl.Seed{s}, store.Idempotency{})
	n.must(err)
	if len(made) != 1 {
		n.t.Fatalf("%d seeds were made", len(made))
	}
	d, err := n.CrawlDomain(n.t.Context(), s.URL.Domain())
	n.must(err)
	return made[0], d
}

func (n *newsroom) discover(s crawl.Seed, count, rank int) []crawl.Found {
	out := make([]crawl.Found, count)
	for i := range out {
		out[i] = crawl.Found{DomainID: s.DomainID, URL: webURL(n.t, fmt.Sprintf("https://%s/rank-%d/%d.html", s.URL.Domain(), rank, i)),
			Kind: crawl.Article, Rank: rank, Depth: 1, SeedNo: s.No}
	}
	_, err := n.AddURLs(n.t.Context(), out)
	n.must(err)
	return out
}

func (n *newsroom) lease(d crawl.Domain, most int, change ...func(*crawl.Lease)) []crawl.URL {
	n.t.Helper()
	l := crawl.Lease{Domain: d, ID: uuid.New(), Most: most, TTL: time.Minute, Idle: time.Hour}
	for _, f := range change {
		f(&l)
	}
	urls, err := n.LeaseURLs(n.t.Context(), l)
	n.must(err)
	return urls
}

func TestSeedsBecomeDueAndComeBack(t *testing.T) {
	n := open(t)
	s, d := n.seed(n.workspace.ID, "https://news.example/")
	planned, err := n.PlanSeeds(t.Context(), 10)
	if n.must(err); planned != 1 {
		t.Fatalf("%d seeds were planned", planned)
	}
	if again, err := n.PlanSeeds(t.Context(), 10); again != 0 || err != nil {
		t.Errorf("%d seeds were planned again, %v", again, err)
	}
	if due, err := n.DueDomains(t.Context(), 500); err != nil || len(due) != 1 || due[0] != "news.example" {
		t.Errorf("due are %v, %v", due, err)
	}
	urls := n.lease(d, 10)
	if len(urls) != 1 || urls[0].URL != "https://news.example/" || urls[0].Kind != crawl.Home || urls[0].SeedNo != s.No {
		t.Fatalf("leased %+v", urls)
	}
	// What it brings decides when it is asked again, between its bounds.
	for range 5 {
		n.must(n.SeedsCrawled(t.Context(), d.ID, urls[0].ID, true, ""))
	}
	if got, _ := n.Seed(t.Context(), n.workspace.ID, s.ID); got.Every != 5*time.Minute || got.LastFound == nil || time.Until(got.NextCrawl) > 5*time.Minute {
		t.Errorf("after news: every %s, next in %s", got.Every, time.Until(got.NextCrawl))
	}
	for range 9 {
		n.must(n.SeedsCrawled(t.Context(), d.ID, urls[0].ID, false, ""))
	}
	if got, _ := n.Seed(t.Context(), n.workspace.ID, s.ID); got.Every != 20*time.Minute {
		t.Errorf("without news: every %s", got.Every)
	}
	n.must(n.SeedsCrawled(t.Context(), d.ID, urls[0].ID, false, "it is down"))
	if got, _ := n.Seed(t.Context(), n.workspace.ID, s.ID); got.Every != 20*time.Minute || got.LastProblem != "it is down" {
		t.Errorf("after a failure: %+v", got)
	}
}

func TestTheMostImportantIsLeasedFirstAndRefreshesAreNotForgotten(t *testing.T) {
	n := open(t)
	s, d := n.seed(n.workspace.ID, "https://news.example/")
	n.discover(s, 20, 6)
	n.discover(s, 20, 3)
	n.discover(s, 20, crawl.FirstRefresh)
	_, err := n.PlanSeeds(t.Context(), 10)
	n.must(err)
	urls := n.lease(d, 16)
	ranks := map[int]int{}
	for _, u := range urls {
		ranks[u.Rank]++
	}
	if len(urls) != 16 || urls[0].Kind != crawl.Home || ranks[0] != 1 || ranks[3] != 11 || ranks[crawl.FirstRefresh] != 4 {
		t.Errorf("%d leased, by rank %v", len(urls), ranks)
	}
	// Nobody gets what somebody holds; all get all.
	for i := 0; ; i++ {
		more := n.lease(d, 16)
		if len(more) == 0 {
			break
		}
		urls = append(urls, more...)
	}
	seen := map[uuid.UUID]bool{}
	for _, u := range urls {
		if seen[u.ID] {
			t.Errorf("%s was leased twice", u.URL)
		}
		seen[u.ID] = true
	}
	if len(seen) != 61 {
		t.Errorf("%d URLs were leased", len(seen))
	}
}

func TestALeaseRunsOutAndItsHolderIsTooLate(t *testing.T) {
	n := open(t)
	s, d := n.seed(n.workspace.ID, "https://news.example/")
	n.discover(s, 1, 3)
	first := n.lease(d, 1)
	n.exec("update urls set due_at = now() where lease is not null")
	second := n.lease(d, 1)
	if len(first) != 1 || len(second) != 1 || first[0].ID != second[0].ID || first[0].Lease == second[0].Lease {
		t.Fatalf("%+v then %+v", first, second)
	}
	record := func(u crawl.URL) bool {
		t.Helper()
		u.State, u.RawHash = crawl.Kept, "aa"
		f := crawl.Fetched{URL: u, DueIn: time.Hour, Requests: 1, First: true, ObjectKey: crawl.Key(d.Name, u.ID, "aa"),
			Version: &crawl.Version{DomainID: d.ID, URLID: u.ID, FetchedAt: time.Now().UTC(), Status: 200, Kind: crawl.Article, RawHash: "aa", FinalURL: u.URL}}
		held, err := n.RecordFetches(t.Context(), []crawl.Fetched{f})
		n.must(err)
		return held[0]
	}
	if record(first[0]) {
		t.Error("who lost the lease recorded all the same")
	}
	if !record(second[0]) {
		t.Error("who holds the lease could not record")
	}
	if record(second[0]) {
		t.Error("a fetch was recorded twice")
	}
	pages, err := n.TakeCrawled(t.Context(), 10, time.Minute)
	if n.must(err); len(pages) != 1 || pages[0].URL != second[0].URL || !pages[0].First || pages[0].ObjectKey == "" {
		t.Fatalf("handed on: %+v", pages)
	}
	// At least once: what is not declared done comes again.
	if none, err := n.TakeCrawled(t.Context(), 10, time.Minute); len(none) != 0 || err != nil {
		t.Errorf("handed on while it is worked on: %+v %v", none, err)
	}
	n.exec("update crawled_pages set taken_until = now()")
	again, err := n.TakeCrawled(t.Context(), 10, time.Minute)
	if n.must(err); len(again) != 1 || again[0].Tries != 2 {
		t.Fatalf("handed on again: %+v", again)
	}
	n.must(n.CrawledDone(t.Context(), []int64{again[0].ID}))
	if got := n.count("select count(*) from crawled_pages"); got != 0 {
		t.Errorf("%d pages are left", got)
	}
}

func TestBudgetsAreOfTheSeedAndOfTheDomain(t *testing.T) {
	n := open(t)
	s, d := n.seed(n.workspace.ID, "https://news.example/", func(s *crawl.Seed) { s.Rules.Budget = 3 })
	other, _ := n.seed(n.workspace.ID, "https://news.example/the-thao", func(s *crawl.Seed) { s.Kind = crawl.Section })
	n.discover(s, 10, 3)
	n.discover(other, 10, 5)
	n.must(n.drainOnce(d))
	urls := n.lease(d, 100, func(l *crawl.Lease) { l.Budget = 7 })
	by := map[int32]int{}
	for _, u := range urls {
		by[u.SeedNo]++
	}
	if by[s.No] != 3 || by[other.No] != 4 {
		t.Errorf("leased by seed: %v", by)
	}
	if more := n.lease(d, 100, func(l *crawl.Lease) { l.Budget = 7 }); len(more) != 0 {
		t.Errorf("%d more", len(more))
	}
	// Hubs are fetched all the same, and tomorrow is another day.
	_, err := n.PlanSeeds(t.Context(), 10)
	n.must(err)
	if hubs := n.lease(d, 100, func(l *crawl.Lease) { l.Budget = 7 }); len(hubs) != 2 {
		t.Errorf("%d hubs", len(hubs))
	}
	n.exec("update urls set due_at = due_at - interval '1 day' where lease is null; update seeds set budget_day = budget_day - 1; update crawl_domains set budget_day = budget_day - 1")
	n.must(n.drainOnce(d))
	if next := n.lease(d, 100, func(l *crawl.Lease) { l.Budget = 7 }); len(next) != 7 {
		t.Errorf("%d the next day", len(next))
	}
}

func (n *newsroom) drainOnce(d crawl.Domain) error {
	_, drains, err := n.BeginDrain(n.t.Context(), d.Name, time.Minute)
	if err == nil && !drains {
		err = errors.New("the domain is not drained")
	}
	return err
}

func TestAGateLetsOneThroughAtATime(t *testing.T) {
	n := open(t)
	var all sync.WaitGroup
	var mu sync.Mutex
	var holder uuid.UUID
	taken := 0
	for range 20 {
		all.Go(func() {
			me := uuid.New()
			ok, wait, err := n.TakeGate(context.Background(), "d:news.example", me, 2*time.Second)
			mu.Lock()
			defer mu.Unlock()
			if err != nil || !ok && (wait <= 0 || wait > 2*time.Second) {
				t.Errorf("%v: wait %s", err, wait)
			}
			if ok {
				taken++
				holder = me
			}
		})
	}
	all.Wait()
	if taken != 1 {
		t.Fatalf("%d went through", taken)
	}
	// Only its holder can open it early.
	n.must(n.ReleaseGate(t.Context(), "d:news.example", uuid.New(), 0))
	if ok, _, err := n.TakeGate(t.Context(), "d:news.example", uuid.New(), time.Second); ok || err != nil {
		t.Errorf("a stranger opened it: %v %v", ok, err)
	}
	n.must(n.ReleaseGate(t.Context(), "d:news.example", holder, 0))
	if ok, _, err := n.TakeGate(t.Context(), "d:news.example", uuid.New(), time.Second); !ok || err != nil {
		t.Errorf("it stays closed: %v %v", ok, err)
	}
	// Addresses give turns.
	var last time.Duration
	for i := range 4 {
		wait, ok, err := n.ReserveGate(t.Context(), "i:x", time.Second, 10*time.Second)
		if n.must(err); !ok || i > 0 && wait-last < 900*time.Millisecond {
			t.Errorf("turn %d comes in %s after %s", i, wait, last)
		}
		last = wait
	}
	if _, ok, err := n.ReserveGate(t.Context(), "i:x", time.Second, time.Second); ok || err != nil {
		t.Errorf("a turn that is far away was given: %v", err)
	}
}

func TestWhatIsPausedRestsAndWhatIsEmptiedComesBack(t *testing.T) {
	n := open(t)
	s, d := n.seed(n.workspace.ID, "https://news.example/")
	n.discover(s, 5, 3)
	_, err := n.PlanSeeds(t.Context(), 10)
	n.must(err)
	control := func(what crawl.Control) int64 {
		t.Helper()
		forgotten, err := n.ControlDomain(t.Context(), n.workspace.ID, d.Name, what, "a test")
		n.must(err)
		return forgotten
	}
	running, drains, err := n.BeginDrain(t.Context(), d.Name, time.Minute)
	if n.must(err); !drains {
		t.Fatal("it is not drained")
	}
	control(crawl.Pause)
	if goOn, err := n.RenewDrain(t.Context(), running, time.Minute); goOn || err != nil {
		t.Errorf("a drain goes on: %v", err)
	}
	if urls := n.lease(d, 10); len(urls) != 0 {
		t.Errorf("%d URLs of a paused domain", len(urls))
	}
	if _, drains, _ := n.BeginDrain(t.Context(), d.Name, time.Minute); drains {
		t.Error("a paused domain is drained")
	}
	_, err = n.EndDrain(t.Context(), d.ID)
	n.must(err)
	if due, err := n.DueDomains(t.Context(), 10); len(due) != 0 || err != nil {
		t.Errorf("due are %v %v", due, err)
	}
	control(crawl.Resume)
	if due, err := n.DueDomains(t.Context(), 10); len(due) != 1 || err != nil {
		t.Errorf("due are %v %v", due, err)
	}
	if forgotten := control(crawl.Empty); forgotten != 6 {
		t.Errorf("%d URLs were forgotten", forgotten)
	}
	if goOn, err := n.RenewDrain(t.Context(), running, time.Minute); goOn || err != nil {
		t.Errorf("a drain of an emptied frontier goes on: %v", err)
	}
	control(crawl.RunNow)
	if planned, err := n.PlanSeeds(t.Context(), 10); planned != 1 || err != nil {
		t.Errorf("%d seeds planned, %v", planned, err)
	}
	d, err = n.CrawlDomain(t.Context(), d.Name)
	n.must(err)
	if urls := n.lease(d, 10); len(urls) != 1 || urls[0].Kind != crawl.Home {
		t.Errorf("leased %+v", urls)
	}
	if _, err := n.ControlDomain(t.Context(), n.workspace.ID, "nobody.example", crawl.Pause, ""); err == nil {
		t.Error("an unknown domain was paused")
	}
	if got := n.count("select count(*) from audit_log where action like 'domain.%'"); got != 4 {
		t.Errorf("%d entries in the audit log", got)
	}
}

func TestPausedSeedsStopTheirPages(t *testing.T) {
	n := open(t)
	s, d := n.seed(n.workspace.ID, "https://news.example/")
	n.discover(s, 5, 3)
	_, err := n.ChangeSeed(t.Context(), n.workspace.ID, s.ID, s.Version, func(s *crawl.Seed) error { s.Status = crawl.Paused; return nil })
	n.must(err)
	if urls := n.lease(d, 10); len(urls) != 0 {
		t.Errorf("%d URLs of a paused seed", len(urls))
	}
	var refused *post.Error
	if _, err := n.ChangeSeed(t.Context(), n.workspace.ID, s.ID, s.Version, func(*crawl.Seed) error { return nil }); !errors.As(err, &refused) || refused.Kind != post.PreconditionFailed {
		t.Errorf("an edit of an old version: %v", err)
	}
	elsewhere, _, _ := n.found("Other desk")
	if _, err := n.Seed(t.Context(), elsewhere.ID, s.ID); err == nil {
		t.Error("another workspace reads the seed")
	}
	if _, err := n.DomainOfWorkspace(t.Context(), elsewhere.ID, d.Name); err == nil {
		t.Error("another workspace sees the domain")
	}
	n.seed(elsewhere.ID, "https://news.example/")
	if shared, err := n.OthersOnDomain(t.Context(), n.workspace.ID, d.ID); !shared || err != nil {
		t.Errorf("shared: %v %v", shared, err)
	}
}
