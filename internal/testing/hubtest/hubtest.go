// Package hubtest is a WebSub hub for tests, written from the W3C recommendation
// (https://www.w3.org/TR/websub/), with the faults of real ones.
package hubtest

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // one of the methods of the recommendation
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Behavior is how a hub treats its subscribers.
type Behavior struct {
	Lag        time.Duration // before a verification of intent
	Lease      time.Duration // that is granted, whatever was asked for; 0: what was asked for
	Refuse     int           // status of responses to requests; 0: they are accepted
	Deny       string        // the reason for which all subscriptions are denied; empty: none are
	Unverified bool          // requests are accepted, but never verified
	Method     string        // of signatures: sha1, sha256, sha384 or sha512; empty: sha256
	Signature  string        // replaces signatures; "none": there is none
}

// Hub is a running hub.
type Hub struct {
	URL    string // of requests; with /307 or /308 appended, it redirects to itself
	server *httptest.Server
	client *http.Client
	work   sync.WaitGroup

	mu            sync.Mutex
	behavior      Behavior
	requests      []url.Values
	subscriptions map[string]*Subscription // by callback
}

// Subscription is a subscription at the hub.
type Subscription struct {
	Topic, Callback, Secret string
	Lease                   time.Duration
	ExpiresAt               time.Time
}

// Start starts a hub that is stopped with the test.
func Start(t testing.TB) *Hub {
	t.Helper()
	h := &Hub{subscriptions: map[string]*Subscription{}}
	h.client = &http.Client{Timeout: 20 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	h.server = httptest.NewServer(http.HandlerFunc(h.serve))
	h.URL = h.server.URL
	t.Cleanup(h.Stop)
	return h
}

// Stop stops the hub.
func (h *Hub) Stop() {
	h.server.Close()
	h.work.Wait()
}

// Host is the address that subscribers must be allowed to reach.
func (h *Hub) Host() string { return strings.TrimPrefix(h.URL, "http://") }

// Behave changes the behavior.
func (h *Hub) Behave(b Behavior) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.behavior = b
}

// Requests returns the forms of all requests.
func (h *Hub) Requests() []url.Values {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]url.Values{}, h.requests...)
}

// Subscriptions returns the verified subscriptions to a topic.
func (h *Hub) Subscriptions(topic string) (all []Subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.subscriptions {
		if s.Topic == topic {
			all = append(all, *s)
		}
	}
	return all
}

func (h *Hub) serve(w http.ResponseWriter, r *http.Request) {
	if status, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/")); err == nil {
		w.Header().Set("Location", "/")
		w.WriteHeader(status)
		return
	}
	if r.Method != http.MethodPost ||
		!strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		http.Error(w, "send a form", http.StatusBadRequest)
		return
	}
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	form := r.PostForm
	h.mu.Lock()
	h.requests = append(h.requests, form)
	b := h.behavior
	h.mu.Unlock()
	callback, err := url.Parse(form.Get("hub.callback"))
	switch {
	case b.Refuse != 0:
		http.Error(w, "not today", b.Refuse)
		return
	// Section 5.1
	case form.Get("hub.mode") != "subscribe" || form.Get("hub.topic") == "" || err != nil || callback.Host == "" ||
		len(form.Get("hub.secret")) >= 200:
		http.Error(w, "invalid request", http.StatusBadRequest)
		return
	}
	lease, err := strconv.Atoi(form.Get("hub.lease_seconds"))
	if err != nil || lease <= 0 {
		lease = 864_000
	}
	s := Subscription{
		Topic: form.Get("hub.topic"), Callback: form.Get("hub.callback"), Secret: form.Get("hub.secret"),
		Lease: time.Duration(lease) * time.Second,
	}
	if b.Lease > 0 {
		s.Lease = b.Lease
	}
	w.WriteHeader(http.StatusAccepted) // verification is asynchronous, section 5.1.1
	if b.Unverified {
		return
	}
	h.work.Go(func() {
		time.Sleep(b.Lag)
		if b.Deny != "" {
			h.ask(s.Callback, url.Values{"hub.mode": {"denied"}, "hub.topic": {s.Topic}, "hub.reason": {b.Deny}})
			return
		}
		h.Verify(s)
	})
}

// Verify verifies the intent of a subscriber (section 5.3) and returns the status of its
// response.
func (h *Hub) Verify(s Subscription) int {
	raw := make([]byte, 20)
	_, _ = rand.Read(raw)
	challenge := hex.EncodeToString(raw)
	status, body := h.ask(s.Callback, url.Values{
		"hub.mode": {"subscribe"}, "hub.topic": {s.Topic},
		"hub.challenge":     {challenge},
		"hub.lease_seconds": {strconv.Itoa(int(s.Lease.Seconds()))},
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	if status/100 == 2 && body == challenge {
		s.ExpiresAt = time.Now().Add(s.Lease)
		h.subscriptions[s.Callback] = &s
	}
	return status
}

func (h *Hub) ask(callback string, query url.Values) (status int, body string) {
	u, err := url.Parse(callback)
	if err != nil {
		return 0, ""
	}
	q := u.Query()
	for name, values := range query {
		q[name] = values
	}
	u.RawQuery = q.Encode()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, u.String(), nil)
	if err != nil {
		return 0, ""
	}
	res, err := h.client.Do(r)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = res.Body.Close() }()
	text, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(text)
}

// Publish delivers a document to the subscribers of a topic (section 7) and returns the
// statuses of their responses. A subscriber that is gone loses its subscription; redirects
// are failures.
func (h *Hub) Publish(topic, contentType string, document []byte) (statuses []int) {
	for _, s := range h.Subscriptions(topic) {
		if time.Now().After(s.ExpiresAt) {
			continue
		}
		status, err := h.Deliver(s, contentType, document)
		if err != nil {
			statuses = append(statuses, 0)
			continue
		}
		statuses = append(statuses, status)
		if status == http.StatusGone {
			h.mu.Lock()
			delete(h.subscriptions, s.Callback)
			h.mu.Unlock()
		}
	}
	return statuses
}

// Deliver delivers a document to a subscriber.
func (h *Hub) Deliver(s Subscription, contentType string, document []byte) (status int, err error) {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.Callback, bytes.NewReader(document))
	if err != nil {
		return 0, err
	}
	h.mu.Lock()
	b := h.behavior
	h.mu.Unlock()
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Link", fmt.Sprintf(`<%s>; rel="hub", <%s>; rel="self"`, h.URL, s.Topic))
	switch {
	case b.Signature == "none" || s.Secret == "":
	case b.Signature != "":
		r.Header.Set("X-Hub-Signature", b.Signature)
	default:
		r.Header.Set("X-Hub-Signature", Sign(b.Method, s.Secret, document))
	}
	res, err := h.client.Do(r)
	if err != nil {
		return 0, err
	}
	_ = res.Body.Close()
	return res.StatusCode, nil
}

// Sign returns the signature of a document; method can be empty.
func Sign(method, secret string, document []byte) string {
	algorithms := map[string]func() hash.Hash{
		"sha1": sha1.New, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New,
	}
	if method == "" {
		method = "sha256"
	}
	mac := hmac.New(algorithms[method], []byte(secret))
	_, _ = mac.Write(document)
	return method + "=" + hex.EncodeToString(mac.Sum(nil))
}
