package acceptance

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"dateline/e2e/stack"
	"dateline/internal/testing/e2etest"
	"dateline/platforms/fake"
)

// burstSize is the number of posts that are due in the second in which a worker is killed.
const burstSize = 40

const (
	statusLimit = 60 // the network's limit in 20 seconds
	overLimit   = 90 // posts that are due at one second
)

// installation is two api and two worker processes on shared engines.
type installation struct {
	*stack.Stack
	t       *testing.T
	apis    [2]*stack.Process
	workers [2]*stack.Process
	account string
	paper   *httptest.Server
	proxy   *proxy // before the network
	program string
}

// useStack runs typical tasks on two processes of each kind: data that one process
// stores, the other returns.
func useStack(t *testing.T, program string, engines stack.Engines) *installation {
	t.Helper()
	paper := stack.Newspaper(t)
	engines.Network = fake.Options{Rates: limitedStatuses()}
	engines.Env = append(engines.Env, "DATELINE_CRAWL_DELAY=100ms", "DATELINE_CRAWL_IP_DELAY=0s")
	s := stack.Open(t, engines)
	in := &installation{Stack: s, t: t, program: program, paper: paper, proxy: newProxy(t, s.Net.URL(), true)}
	s.Env = append(s.Env, "DATELINE_ALLOW_PRIVATE_HOSTS="+strings.TrimPrefix(paper.URL, "http://")+","+
		strings.TrimPrefix(in.proxy.URL, "http://"))
	makeBucket(t, s)
	s.Setup(program)
	for i := range 2 {
		in.workers[i] = s.Worker(fmt.Sprintf("worker %d", i), program)
		in.apis[i] = s.API(fmt.Sprintf("api %d", i), program)
	}
	there, err := s.Net.AddAccount("desk")
	e2etest.Must(t, err)
	var made struct{ ID string }
	in.call(0, http.MethodPost, "/api/v1/accounts", map[string]string{
		"network": "mastodon", "base_url": in.proxy.URL,
		"access_token": there.Token,
	}, &made)
	in.account = made.ID

	in.seed()
	in.publish()
	in.session()
	in.count()
	in.stored()
	return in
}

// limitedStatuses is the network's rate limit.
func limitedStatuses() fake.Rates {
	rates := fake.GenerousRates()
	rates.Statuses = fake.Rate{Requests: statusLimit, Per: 20 * time.Second}
	return rates
}

// call sends a request to one of the two apis. Anything but success ends the test.
func (in *installation) call(n int, method, path string, body, out any) {
	in.t.Helper()
	answer, err := e2etest.Ask(in.t.Context(), method, in.apis[n%2].At+path, in.Token, body)
	if err == nil && answer.Status >= http.StatusBadRequest {
		err = fmt.Errorf("%d: %s", answer.Status, answer.Body)
	}
	if err == nil {
		err = answer.Into(out)
	}
	if err != nil {
		in.t.Fatalf("%s %s: %v", method, path, err)
	}
}

func (in *installation) schedule(n int, text string, at time.Time, attachments ...string) (id string) {
	in.t.Helper()
	var made struct{ ID string }
	body := map[string]any{"content": text, "scheduled_time": at.Format(time.RFC3339Nano), "accounts": []string{
		in.account,
	}}
	if len(attachments) > 0 {
		body["attachments"] = attachments
	}
	in.call(n, http.MethodPost, "/api/v1/posts", body, &made)
	return made.ID
}

// publish schedules posts at both apis, one with a picture, and kills a worker while
// they are published. A stream of the other api reports them.
func (in *installation) publish() {
	in.t.Helper()
	events := in.events(1)
	media := in.upload(0)
	at := time.Now().Add(8 * time.Second).Truncate(time.Second)
	want := map[string]int{}
	texts := make([]string, burstSize)
	for i := range texts {
		texts[i] = fmt.Sprintf("due at one second %d", i)
		if i == 0 {
			in.schedule(i, texts[i], at, media)
		} else {
			in.schedule(i, texts[i], at)
		}
	}
	first := in.schedule(0, "the stream reports it", at)
	texts = append(texts, "the stream reports it")
	time.Sleep(time.Until(at.Add(50 * time.Millisecond)))
	in.workers[0].Kill()
	e2etest.Eventually(in.t, 90*time.Second, "every post to be published", func() bool {
		clear(want)
		for _, p := range in.Net.Posts() {
			want[p.Text]++
		}
		return len(want) == len(texts)
	})
	in.WantAllPosted()
	for _, p := range in.Net.Posts() {
		if p.Text == texts[0] && len(p.Media) != 1 {
			in.t.Errorf("the post with a picture has %d attachments, want 1", len(p.Media))
		}
	}
	for _, text := range texts {
		if n := in.copies(text); n != 1 {
			in.t.Errorf("%q was published %d times, want once", text, n)
		}
	}
	select {
	case <-events.seen(first, "posted"):
	case <-time.After(20 * time.Second):
		in.t.Errorf("the stream of the other api has no event of the published post; got:\n%s", events.log.Tail(2000))
	}
}

func (in *installation) copies(text string) (n int) {
	for _, p := range in.Net.Posts() {
		if p.Text == text {
			n++
		}
	}
	return n
}

// stream is an open stream of events.
type stream struct{ log e2etest.Buffer }

// events opens the workspace's stream at one api.
func (in *installation) events(n int) *stream {
	in.t.Helper()
	request, err := http.NewRequestWithContext(in.t.Context(), http.MethodGet, in.apis[n].At+"/api/v1/events", nil)
	e2etest.Must(in.t, err)
	request.Header.Set("Authorization", "Bearer "+in.Token)
	answer, err := http.DefaultClient.Do(request)
	e2etest.Must(in.t, err)
	in.t.Cleanup(func() { _ = answer.Body.Close() })
	s := &stream{}
	go func() {
		for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
			_, _ = fmt.Fprintln(&s.log, lines.Text())
		}
	}()
	return s
}

// seen returns a channel that is closed when an event of a type arrives for a post.
func (s *stream) seen(post, kind string) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		for range 400 {
			for line := range strings.Lines(s.log.String()) {
				if strings.HasPrefix(line, "data:") && strings.Contains(line, post) &&
					strings.Contains(line, `"`+kind+`"`) {
					close(done)
					return
				}
			}
			time.Sleep(50 * time.Millisecond)
		}
	}()
	return done
}

// session logs in at one api, uses the session at the other, and logs out there.
func (in *installation) session() {
	in.t.Helper()
	link, err := url.Parse(in.Run(in.program, "login-link"))
	e2etest.Must(in.t, err)
	jar, err := cookiejar.New(nil)
	e2etest.Must(in.t, err)
	browser := &http.Client{Jar: jar} // cookies of a host hold for all of its ports (RFC 6265, section 8.5)
	defer browser.CloseIdleConnections()
	do := func(n int, method, path string) int {
		in.t.Helper()
		request, err := http.NewRequestWithContext(in.t.Context(), method, in.apis[n].At+path, nil)
		e2etest.Must(in.t, err)
		request.Header.Set("Origin", in.apis[n].At)
		answer, err := browser.Do(request)
		e2etest.Must(in.t, err)
		_ = answer.Body.Close()
		return answer.StatusCode
	}
	// The redirect may lead to a missing dashboard
	if status := do(0, http.MethodPost, link.Path); status != http.StatusOK && status != http.StatusNotFound {
		in.t.Fatalf("logging in with the link: status %d", status)
	}
	for n := range in.apis {
		if status := do(n, http.MethodGet, "/api/v1/session"); status != http.StatusOK {
			in.t.Errorf("the session at api %d: status %d, want 200", n, status)
		}
	}
	if status := do(1, http.MethodDelete, "/api/v1/sessions"); status != http.StatusNoContent {
		in.t.Errorf("logging out at api 1: status %d, want 204", status)
	}
	if status := do(0, http.MethodGet, "/api/v1/session"); status != http.StatusUnauthorized {
		in.t.Errorf("the session at api 0 after the logout at api 1: status %d, want 401", status)
	}
}

// limits schedules more posts than the network accepts in a period. The workers share
// the remaining quota, so the network refuses none, and both apis report the same
// quota.
func (in *installation) limits() {
	in.t.Helper()
	in.workers[0] = in.Worker("worker 0 again", in.program)
	before := len(in.Net.Posts())
	at := time.Now().Add(10 * time.Second).Truncate(time.Second)
	for i := range overLimit {
		in.schedule(i, fmt.Sprintf("over the limit %d", i), at)
	}
	e2etest.Eventually(in.t, 60*time.Second, "as many posts as the network takes", func() bool {
		return len(in.Net.Posts())-before >= statusLimit
	})
	var answers [2]struct {
		Limits []struct {
			Bucket           string
			Limit, Remaining *int
			Source           string
		}
	}
	for n := range answers {
		in.call(n, http.MethodGet, "/api/v1/accounts/"+in.account+"/limits", nil, &answers[n])
	}
	first, err := json.Marshal(answers[0])
	e2etest.Must(in.t, err)
	second, err := json.Marshal(answers[1])
	e2etest.Must(in.t, err)
	if string(first) != string(second) || !strings.Contains(string(first), `"Source":"reported"`) {
		in.t.Errorf("the apis report different limits, or none that the network reported:\n%s\n%s", first, second)
	}
	e2etest.Eventually(in.t, 90*time.Second, "the other posts after the reset", func() bool {
		return len(in.Net.Posts())-before == overLimit
	})
	in.WantAllPosted()
	if n := in.proxy.refusals(); n > 2 { // each process may exceed the limit by one before it knows
		in.t.Errorf("the network refused %d calls, want at most 2", n)
	}
}
