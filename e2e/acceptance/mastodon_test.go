package acceptance

import (
	"crypto/rand"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"dateline/e2e/stack"
	"dateline/internal/testing/e2etest"
	"dateline/platforms/fake"
)

// lossyCase is a post with its thread whose responses get lost. WORD is replaced by a
// unique word.
type lossyCase struct {
	name, text   string
	posts, loses int
	thread       []string
}

// segments is the number of statuses that the server should have.
func (c lossyCase) segments() int { return c.posts * (1 + len(c.thread)) }

func lossyCases() []lossyCase {
	return []lossyCase{
		{"every response arrives", "WORD plain", 1, 0, nil},
		{"a lost response", "WORD lost", 1, 1, nil},
		{"identical posts, both responses lost", "WORD twins", 2, 2, nil},
		{"escaped Markdown", `WORD 2 \* 3 and a\_b`, 1, 1, nil},
		{"character references", "WORD Q&amp;A &copy; 2026", 1, 1, nil},
		{"links and mentions", "WORD see https://example.com/a?b=1&c=2 #news", 1, 1, nil},
		{"lines and spaces", "WORD first\n\nsecond  line\n- item", 1, 1, nil},
		{"a thread", `WORD first of three: 2 \* 3`, 1, 3, []string{
			`WORD second: a\_b &amp; &copy; 2026`, `WORD third: \*not bold\*`,
		}},
	}
}

// testMastodonServer runs the suites on the server of MASTODON_URL, as the account of
// MASTODON_TOKEN.
func testMastodonServer(t *testing.T, program string) {
	testOnServer(t, program, os.Getenv("MASTODON_URL"), os.Getenv("MASTODON_TOKEN"))
}

// testOnServer runs the suite of all networks, the lossy cases, and many posts with
// options on a server.
func testOnServer(t *testing.T, program, base, token string) {
	t.Helper()
	goTest(t, []string{"MASTODON_URL=" + base, "MASTODON_TOKEN=" + token}, "./platforms/mastodon", "-run",
		"^TestRealServer$")
	t.Run("LoseResponses", func(t *testing.T) { loseResponses(t, program, base, token) })
	t.Run("Options", func(t *testing.T) { publishWithOptions(t, program, base, token) })
}

// testFakeMastodon runs the lossy cases on the fake network, which tests the proxy and
// the cases.
func testFakeMastodon(t *testing.T, program string) {
	server, err := fake.New(fake.Options{})
	e2etest.Must(t, err)
	e2etest.Must(t, server.Start("127.0.0.1:0"))
	t.Cleanup(func() { _ = server.Close() })
	account, err := server.AddAccount("desk")
	e2etest.Must(t, err)
	loseResponses(t, program, server.URL(), account.Token)
}

// loseResponses publishes posts whose responses the proxy drops after the server has
// acted. Each must be on the server exactly once. Dateline reports it as posted or
// uncertain.
func loseResponses(t *testing.T, program, base, token string) {
	t.Helper()
	p := newProxy(t, base, false)
	s := stack.Open(t, stack.Engines{
		Env: []string{"DATELINE_ALLOW_PRIVATE_HOSTS=" + strings.TrimPrefix(p.URL, "http://")},
	})
	makeBucket(t, s)
	s.Setup(program)
	s.Worker("worker", program)
	s.API("api", program)
	t.Cleanup(func() { p.removeAll(t, token) })

	var posts [][]string
	words := map[string]lossyCase{}
	for _, c := range lossyCases() {
		word := strings.ToLower(rand.Text())
		words[word] = c
		p.expect(word, c.loses)
		var texts []string
		for _, text := range append([]string{c.text}, c.thread...) {
			texts = append(texts, strings.ReplaceAll(text, "WORD", word))
		}
		for range c.posts {
			posts = append(posts, texts)
		}
	}
	ids := connectAndSchedule(t, s, p.URL, token, posts, time.Now().Add(6*time.Second).Truncate(time.Second))
	states := s.Settled(ids)
	for word, c := range words {
		var ends []string
		for i, texts := range posts {
			if strings.Contains(texts[0], word) {
				ends = append(ends, states[i])
			}
		}
		c.check(t, len(p.copies(word)), ends)
	}
}

// check compares the server's statuses and Dateline's report with the case.
func (c lossyCase) check(t *testing.T, copies int, ends []string) {
	t.Helper()
	t.Logf("%s: %d copies of %d, %v", c.name, copies, c.segments(), ends)
	// A thread stops at an uncertain segment.
	stopped := len(c.thread) > 0 && slices.Contains(ends, "uncertain")
	if copies > c.segments() || copies < c.segments() && !stopped {
		t.Errorf("%s: the server has %d copies, want %d; Dateline reports %v", c.name, copies, c.segments(), ends)
	}
	for _, end := range ends {
		if end != "posted" && (end != "uncertain" || c.loses == 0) {
			t.Errorf("%s: the post is %s, want posted, or uncertain if a response was lost", c.name, end)
		}
	}
}

// connectAndSchedule connects an account by its token and schedules posts with their
// threads.
func connectAndSchedule(
	t *testing.T, s *stack.Stack, base, token string, posts [][]string, at time.Time,
) (ids []string) {
	t.Helper()
	var made struct{ ID string }
	account := connect(t, s, base, token)
	for _, texts := range posts {
		thread := []map[string]string{}
		for _, text := range texts[1:] {
			thread = append(thread, map[string]string{"content": text})
		}
		status, err := s.Call(0, http.MethodPost, "/api/v1/posts", map[string]any{
			"content": texts[0], "thread": thread,
			"scheduled_time": at.Format(time.RFC3339Nano), "accounts": []string{account},
		}, &made)
		if err != nil || status != http.StatusCreated {
			t.Fatalf("scheduling %q: %d, %v", texts, status, err)
		}
		ids = append(ids, made.ID)
	}
	return ids
}

// connect connects an account by its token.
func connect(t *testing.T, s *stack.Stack, base, token string) (id string) {
	t.Helper()
	var account struct{ ID string }
	status, err := s.Call(0, http.MethodPost, "/api/v1/accounts",
		map[string]string{"network": "mastodon", "base_url": base, "access_token": token}, &account)
	if err != nil || status != http.StatusCreated {
		t.Fatalf("connecting the account: %d, %v", status, err)
	}
	return account.ID
}
