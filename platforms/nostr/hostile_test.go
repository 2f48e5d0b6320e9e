package nostr_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"dateline/internal/identity/secret"
	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/nostr"
	"dateline/platforms/platformtest"
)

// startRelay starts a relay that answers as a function does, which returns false to say no more.
func startRelay(t *testing.T, answer func(say func(...any) bool, verb, id string, values []json.RawMessage)) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer c.CloseNow() //nolint:errcheck // a test
		c.SetReadLimit(1 << 20)
		say := func(values ...any) bool {
			raw, _ := json.Marshal(values)
			return c.Write(context.Background(), websocket.MessageText, raw) == nil
		}
		for {
			_, raw, err := c.Read(r.Context())
			var m []json.RawMessage
			var verb, id string
			var e struct{ ID string }
			if err != nil || json.Unmarshal(raw, &m) != nil || len(m) < 2 {
				return
			}
			_ = json.Unmarshal(m[0], &verb)
			if json.Unmarshal(m[1], &id) != nil && json.Unmarshal(m[1], &e) == nil {
				id = e.ID
			}
			answer(say, verb, id, m)
		}
	}))
	t.Cleanup(server.Close)
	return "ws" + strings.TrimPrefix(server.URL, "http")
}

// at returns the account with another relay.
func (r relays) at(address string) network.Account {
	account := r.account
	account.Settings = map[string]string{"relays": address}
	return account
}

func (r relays) event(handle string) map[string]any {
	r.Helper()
	var e map[string]any
	if err := json.Unmarshal([]byte(handle), &e); err != nil {
		r.Fatal(err)
	}
	delete(e, "relays")
	return e
}

// signed is an event of the account.
func (r relays) signed(kind int, at time.Time, content string, tags ...[]string) map[string]any {
	r.Helper()
	return r.event(nostr.Signed(r.T, r.account, map[string]any{"kind": kind, "tags": tags, "content": content}, at))
}

// What nobody signed is no deletion, no list of relays and no newer article.
func TestRelay_InventsEvents(t *testing.T) {
	t.Parallel()
	r := newRelays(t, "relay")
	var id atomic.Value
	now := time.Now().Add(time.Minute)
	invented := func(kind int, tags ...[]string) map[string]any {
		e := r.signed(kind, now, "", tags...)
		e["sig"] = strings.Repeat("1", 128)
		return e
	}
	address := startRelay(t, func(say func(...any) bool, verb, sub string, _ []json.RawMessage) {
		if verb == "EVENT" {
			say("OK", sub, true, "")
			return
		}
		say("EVENT", sub, invented(10002, []string{"r", "wss://attacker.example"}))
		say("EVENT", sub, invented(5, []string{"e", fmt.Sprint(id.Load())}))
		say("EVENT", sub, invented(30023, []string{"d", "bao"}))
		say("EOSE", sub)
	})
	for _, options := range []nostr.PostOptions{{}, {Kind: "article", Slug: "bao"}} {
		s := r.prepared(network.Submission{Key: "1", Text: "Bão", Options: options})
		id.Store(r.event(s.Handle)["id"])
		_, err := r.nostr.Publish(t.Context(), r.at(address), s)
		if e := network.AsError(err); e == nil || e.Code != "not_stored" {
			t.Errorf("%q: got %v, want that it was sent and is not shown", options.Kind, err)
		}
	}
	values := form(r.fake, "desk")
	values["relays"] = secret.NewText(address)
	n := nostr.New(platformtest.Client(t), nostr.Options{Relays: []string{address}})
	values["relays"] = secret.NewText("")
	if account := connect(t, n, "", values); account.Settings["relays"] != "" {
		t.Errorf("the account publishes to %s, want the default", account.Settings["relays"])
	}
}

// An answer without an end ends with an error, also if it is fast.
func TestRelay_EndlessAnswers(t *testing.T) {
	t.Parallel()
	r := newRelays(t, "relay")
	n := nostr.New(platformtest.Client(t), nostr.Options{AnswerTimeout: 20 * time.Second, Pauses: []time.Duration{}})
	note := r.signed(1, time.Now(), strings.Repeat("a", 100_000))
	s := r.prepared(network.Submission{Key: "1", Text: "Bão"})
	for name, row := range map[string]struct {
		verb  string
		said  func(id string) []any
		class network.Class
	}{
		"events":  {"REQ", func(id string) []any { return []any{"EVENT", id, note} }, network.Transient},
		"notices": {"REQ", func(string) []any { return []any{"NOTICE", strings.Repeat("b", 100_000)} }, network.Transient},
		"logins":  {"EVENT", func(string) []any { return []any{"AUTH", strings.Repeat("c", 100_000)} }, network.Ambiguous},
	} {
		address := startRelay(t, func(say func(...any) bool, verb, id string, _ []json.RawMessage) {
			for verb == row.verb && say(row.said(id)...) {
			}
			say("EOSE", id)
		})
		started := time.Now()
		_, err := n.Publish(t.Context(), r.at(address), s)
		e := network.AsError(err)
		if e == nil || e.Class != row.class || !strings.Contains(e.Message, "too much") || len(e.Message) > 1000 {
			t.Errorf("%s: got %.200v, want that it sent too much", name, err)
		}
		if took := time.Since(started); took > 10*time.Second {
			t.Errorf("%s: it took %v", name, took)
		}
	}
}

// A relay that redirects is not followed: its address would not be the one that was checked.
func TestRelay_Redirects(t *testing.T) {
	t.Parallel()
	r := newRelays(t, "relay")
	target := relayAddress(r.fake, "relay")
	server := httptest.NewServer(http.RedirectHandler("http"+strings.TrimPrefix(target, "ws"), http.StatusFound))
	t.Cleanup(server.Close)
	s := r.prepared(network.Submission{Key: "1", Text: "Bão"})
	_, err := r.nostr.Publish(t.Context(), r.at("ws"+strings.TrimPrefix(server.URL, "http")), s)
	if e := network.AsError(err); e == nil || e.Class != network.NotSent || !strings.Contains(e.Message, "it answered 302") {
		t.Errorf("got %v, want that the relay cannot be reached", err)
	}
}

// A reason of any length and form is no code of Dateline.
func TestRelay_UnknownReasons(t *testing.T) {
	t.Parallel()
	r := newRelays(t, "relay")
	s := r.prepared(network.Submission{Key: "1", Text: "Bão"})
	address := startRelay(t, func(say func(...any) bool, verb, id string, _ []json.RawMessage) {
		if verb == "EVENT" {
			say("OK", id, false, strings.Repeat("no way ", 10_000)+": it says")
			return
		}
		say("EOSE", id)
	})
	_, err := r.nostr.Publish(t.Context(), r.at(address), s)
	if e := network.AsError(err); e == nil || e.Code != "error" || e.Class != network.Transient || len(e.Message) > 1000 {
		t.Errorf("got %.200v, want an error of the relay", err)
	}
}

// Relays return events that nobody asked for. A deletion that is refused is an error then, too.
func TestDelete_RefusedByARelayThatReturnsMore(t *testing.T) {
	t.Parallel()
	r := newRelays(t, "relay")
	post, other := r.signed(1, time.Now(), "Bão"), r.signed(1, time.Now(), "Khác")
	address := startRelay(t, func(say func(...any) bool, verb, id string, _ []json.RawMessage) {
		if verb == "EVENT" {
			say("OK", id, false, "blocked: no")
			return
		}
		say("EVENT", id, post)
		say("EVENT", id, other)
		say("EOSE", id)
	})
	id, _ := post["id"].(string)
	if e := network.AsError(r.nostr.Delete(t.Context(), r.at(address), id)); e == nil || e.Class != network.Rejected {
		t.Errorf("got %v, want that the relay refuses", e)
	}
}

// An article can be deleted by its name alone (NIP-09).
func TestPublish_NotAfterADeletionByName(t *testing.T) {
	t.Parallel()
	r := newRelays(t, "relay")
	s := r.prepared(network.Submission{Key: "1", Text: "Bão", Options: nostr.PostOptions{Kind: "article", Slug: "bao"}})
	name := "30023:" + r.account.RemoteID + ":bao"
	for after, want := range map[time.Duration]string{time.Second: "deletion_requested", -time.Hour: "not_stored"} {
		deletion := r.signed(5, time.Now().Add(after), "", []string{"a", name})
		address := startRelay(t, func(say func(...any) bool, verb, id string, values []json.RawMessage) {
			if verb == "EVENT" {
				say("OK", id, true, "")
				return
			}
			for _, filter := range values[2:] {
				if strings.Contains(string(filter), name) {
					say("EVENT", id, deletion)
				}
			}
			say("EOSE", id)
		})
		_, err := r.nostr.Publish(t.Context(), r.at(address), s)
		if e := network.AsError(err); e == nil || e.Code != want {
			t.Errorf("deleted %v after it: got %v, want %s", after, err, want)
		}
	}
}

// A later post of Dateline with the same slug does not make an earlier one published; a newer
// version that its author wrote elsewhere does.
func TestPublish_NewerArticleWithTheSameSlug(t *testing.T) {
	t.Parallel()
	r := newRelays(t, "relay")
	s := network.Submission{Key: "1", Text: "Bão", Options: nostr.PostOptions{Kind: "article", Slug: "bao"}}
	older := r.backdated(s, time.Now().Add(-5*time.Second))
	newer := r.prepared(network.Submission{Key: "2", Text: "Bão tan", Options: s.Options})
	if _, err := r.nostr.Publish(t.Context(), r.account, newer); err != nil {
		t.Fatal(err)
	}
	_, err := r.nostr.Publish(t.Context(), r.account, older)
	if e := network.AsError(err); e == nil || e.Class != network.Rejected || e.Code != "newer_article" {
		t.Errorf("got %v, want that there is a newer article", err)
	}
	if found, err := r.nostr.Reconcile(t.Context(), r.account, older, network.Window{}); err != nil || found.Found {
		t.Errorf("got %+v, %v, want it not found", found, err)
	}
	edited := r.signed(30023, time.Now(), "Bão tan", []string{"d", "bao"})
	address := startRelay(t, func(say func(...any) bool, verb, id string, _ []json.RawMessage) {
		if verb == "REQ" {
			say("EVENT", id, edited)
			say("EOSE", id)
		}
	})
	if _, err := r.nostr.Publish(t.Context(), r.at(address), older); err != nil {
		t.Errorf("edited elsewhere: got %v, want it published", err)
	}
}

// A post that is moved to an earlier time is signed again: relays refuse events of the future,
// or show them at that time.
func TestPublish_MovedToAnEarlierTime(t *testing.T) {
	t.Parallel()
	r := newRelays(t, "relay")
	s := network.Submission{Key: "1", Text: "Dời sớm", Due: time.Now().Add(8 * time.Minute)}
	s.Handle = r.prepared(s).Handle
	if _, err := r.nostr.Publish(t.Context(), r.account, s); err != nil {
		t.Errorf("at its time, by a clock that is late: got %v", err)
	}
	s = network.Submission{Key: "2", Text: "Dời sớm hơn", Due: time.Now().Add(8 * time.Minute)}
	s.Handle = r.prepared(s).Handle
	s.Due = time.Now()
	_, err := r.nostr.Publish(t.Context(), r.account, s)
	if e := network.AsError(err); e == nil || e.Class != network.Transient || e.Code != network.CodeMediaExpired {
		t.Errorf("got %v, want that it has to be signed again", err)
	}
	if posts := r.posts(s.Text); len(posts) != 0 {
		t.Errorf("got %+v, want nothing sent", posts)
	}
}

// A post whose answer was lost may be on the relays that the account had then.
func TestReconcile_AsksFormerRelays(t *testing.T) {
	t.Parallel()
	r := newRelays(t, "relay")
	s := r.prepared(network.Submission{Key: "1", Text: "Bão"})
	if _, err := r.nostr.Publish(t.Context(), r.account, s); err != nil {
		t.Fatal(err)
	}
	found, err := r.nostr.Reconcile(t.Context(), r.on("silent"), s, network.Window{})
	if err != nil || !found.Found {
		t.Errorf("got %+v, %v, want it found on the former relay", found, err)
	}
}

// Relays no longer show an event that has expired: it may have been published.
func TestReconcile_ExpiredEvent(t *testing.T) {
	t.Parallel()
	r := newRelays(t, "relay")
	s := r.backdated(network.Submission{
		Key: "1", Text: "Bão", Options: nostr.PostOptions{ExpiresAfterHours: 1},
	}, time.Now())
	e := r.event(s.Handle)
	e["tags"] = [][]string{{"expiration", strconv.FormatInt(time.Now().Add(-time.Minute).Unix(), 10)}}
	s.Handle = nostr.Signed(t, r.account, e, time.Now().Add(-time.Hour))
	found, err := r.nostr.Reconcile(t.Context(), r.account, s, network.Window{})
	if err != nil || found.Found || found.Conclusive {
		t.Errorf("got %+v, %v, want that nobody can say", found, err)
	}
}

// A relay that knows no COUNT says so in a notice, or not at all.
func TestMeasure_RelayThatCannotCount(t *testing.T) {
	t.Parallel()
	r := newRelays(t, "relay")
	post := r.signed(1, time.Now(), "Bão")
	address := startRelay(t, func(say func(...any) bool, verb, id string, _ []json.RawMessage) {
		switch verb {
		case "REQ":
			say("EVENT", id, post)
			say("EOSE", id)
		case "COUNT":
			say("NOTICE", "ERROR: bad msg: unknown cmd")
		}
	})
	id, _ := post["id"].(string)
	out, err := r.nostr.Measure(t.Context(), r.at(address), network.MeasureRequest{
		Posts: []network.PostRef{{RemoteID: id}},
	})
	if err != nil || out.Posts[id].State != network.PostMeasured || len(out.Posts[id].Values) != 0 {
		t.Errorf("got %+v, %v, want a post without counts", out, err)
	}
}

// Checking an account changes no settings, also if it has none.
func TestIdentify_KeepsSettings(t *testing.T) {
	t.Parallel()
	r := newRelays(t, "relay")
	list := r.signed(10002, time.Now(), "", []string{"r", "wss://relay.example"})
	server := r.signed(10063, time.Now(), "", []string{"server", "https://blossom.example"})
	address := startRelay(t, func(say func(...any) bool, _, id string, _ []json.RawMessage) {
		say("EVENT", id, list)
		say("EVENT", id, server)
		say("EOSE", id)
	})
	n := nostr.New(platformtest.Client(t), nostr.Options{Relays: []string{address}})
	for _, settings := range []map[string]string{nil, {}, {"reads": "1"}} {
		account := r.account
		account.Settings = settings
		got, err := n.Identify(t.Context(), account)
		if err != nil || len(got.Settings) != len(settings) || got.Settings["relays"] != "" {
			t.Errorf("%v: got %v, %v", settings, got.Settings, err)
		}
	}
	values := form(r.fake, "desk")
	delete(values, "relays")
	if got := connect(t, n, "", values); got.Settings["relays"] != "wss://relay.example" ||
		got.Settings["media_server"] != "https://blossom.example" {
		t.Errorf("a new account: got %v, want its own lists", got.Settings)
	}
}

// A relay is one relay, however its address is written.
func TestRelays_OtherSpellings(t *testing.T) {
	t.Parallel()
	n := nostr.New(platformtest.Client(t), nostr.Options{})
	got, err := nostr.Relays(n, network.Account{Settings: map[string]string{
		"relays": "wss://relay.example, wss://RELAY.example/;relay.example:443 wss://relay.example/a",
	}})
	if err != nil || strings.Join(got, " ") != "wss://relay.example wss://relay.example/a" {
		t.Errorf("got %v, %v", got, err)
	}
}

// What Check accepts fits into an event, whatever it consists of.
func TestCheck_EventsFit(t *testing.T) {
	t.Parallel()
	r := newRelays(t, "relay")
	const limit = 60_000
	image := platformtest.NewImage(t, "image/jpeg")
	image.AltText = strings.Repeat(`"`, 1000)
	staged, err := json.Marshal(map[string]string{
		"url": "https://blossom.example/" + strings.Repeat("a", 226), "sha256": strings.Repeat("a", 64),
	})
	if err != nil {
		t.Fatal(err)
	}
	tags := ""
	for i := range 4000 {
		tags += "#t" + strconv.Itoa(i) + " "
	}
	accepted := 0
	for name, text := range map[string]string{
		"html": strings.Repeat("<&>", 6666), "quotes": strings.Repeat(`"`, 20_000), "tags": tags[:20_000],
		"tags that fit": tags[:10_000], "vietnamese": strings.Repeat("ệ", 15_000), "emoji": strings.Repeat("👍", 8000),
	} {
		for _, images := range []int{0, 10} {
			options := nostr.PostOptions{
				Kind: "article", Title: strings.Repeat("ệ", 300), Summary: strings.Repeat("ệ", 1000),
				ContentWarning: strings.Repeat("ệ", 200),
			}
			s := network.Submission{Key: "1", Text: text, Options: options}
			content := network.Content{Text: text, Options: options}
			for range images {
				s.Media, s.MediaIDs = append(s.Media, image), append(s.MediaIDs, string(staged))
				content.Media = append(content.Media, network.MediaInfo{
					MIMEType: image.MIMEType, Bytes: image.Bytes, AltText: image.AltText, Width: 1, Height: 1,
				})
			}
			if problems := r.nostr.Check(content, r.nostr.DefaultLimits()); len(problems) > 0 {
				continue
			}
			accepted++
			if got := len(r.prepared(s).Handle); got > limit {
				t.Errorf("%s with %d images: got %d bytes, want %d at most", name, images, got, limit)
			}
		}
	}
	if accepted < 4 {
		t.Errorf("%d were accepted, want more", accepted)
	}
}

// A media server cannot put anything into a post but an address.
func TestStage_AddressOfTheFile(t *testing.T) {
	t.Parallel()
	r := newRelays(t, "relay")
	image := platformtest.NewImage(t, "image/jpeg")
	for address, ok := range map[string]bool{
		"https://b.example/a.jpg": true, "https://b.example/a\nMua ngay": false, "https://b.example/a b": false,
		"https://b.example/\u0001": false, "javascript:a": false, "https://b.example/" + strings.Repeat("a", 9999): false,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			_, _ = io.Copy(io.Discard, q.Body)
			_ = json.NewEncoder(w).Encode(map[string]string{"url": address, "sha256": q.Header.Get("X-SHA-256")})
		}))
		account := r.account
		account.Settings = map[string]string{"media_server": server.URL}
		if _, err := r.nostr.Stage(t.Context(), account, image); (err == nil) != ok {
			t.Errorf("%.40q: got %v, want ok %v", address, err, ok)
		}
		server.Close()
	}
}

// Neither the code of the pairing nor the key of an account is in an error.
func TestRemoteSigner_EchoesTheCode(t *testing.T) {
	t.Parallel()
	server := startFake(t, fake.Options{})
	n := nostr.New(platformtest.Client(t), nostr.Options{AnswerTimeout: time.Second})
	signer := nostr.StartSigner(t, n, server.FormValues("nostr", "desk")["key"], startHub(t))
	signer.Answer("echo")
	_, err := n.ConnectForm(t.Context(), "", map[string]secret.Text{"key": secret.NewText(signer.Address)})
	if e := network.AsError(err); e == nil || e.Code != "signer_refused" || strings.Contains(e.Message, "pairing-code") ||
		!strings.Contains(e.Message, "[redacted]") {
		t.Errorf("got %v, want a refusal without the code", err)
	}
}

// A number that is no key of the curve is not taken for another key.
func TestConnectForm_KeyBeyondTheCurve(t *testing.T) {
	t.Parallel()
	n := nostr.New(platformtest.Client(t), nostr.Options{})
	for _, key := range []string{strings.Repeat("f", 64), strings.Repeat("0", 64)} {
		_, err := n.ConnectForm(t.Context(), "", map[string]secret.Text{"key": secret.NewText(key)})
		if e := network.AsError(err); e == nil || e.Code != "not_a_key" {
			t.Errorf("%s: got %v, want that it is no key", key, err)
		}
	}
}

// No message of a relay causes a panic or a long error.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "[]", "[1,2]", `["NOTICE"]`, `["NOTICE","a"]`, `["AUTH",null]`, `["OK","1",true,"duplicate: a"]`,
		`["CLOSED","q1","rate-limited: a"]`, `["EVENT","q1",{"id":"1","tags":[[],["d"],["r","wss://a.example"]]}]`,
		`["EVENT","q1",{"kind":5,"pubkey":"02","tags":[["a","5::"],["expiration","9e9"]]}]`, `["EVENT","q1",null]`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, message string) {
		if text := nostr.Parse(message); len(text) > 2000 {
			t.Errorf("%q caused a text of %d bytes", message, len(text))
		}
	})
}

// No text causes a panic, and nothing without the right hash is a handle.
func FuzzHandle(f *testing.F) {
	for _, s := range []string{"", "{}", "null", `{"id":""}`, `{"id":"1","relays":["a"]}`, `{"tags":[null]}`, "[]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if nostr.IsHandle(text) && !strings.Contains(text, `"`) {
			t.Errorf("%q is a handle", text)
		}
	})
}

// No message causes a panic, and none that nobody encrypted is read.
func FuzzDecrypt(f *testing.F) {
	f.Add("ArUfg5R0mPZv6QigQRYMbVZftPo3Km0w4ihfGGHkIw6ESPq+A5bc++3OxEsiDAeMa6o+ftb/4x8DKBQJEhcjzeS1AjPSWsUDEgrxODiX")
	f.Add("Ag==")
	f.Add(strings.Repeat("A", 132))
	const sender = "1b84c5567b126440995d3ed5aaba0565d71e1834604819ff9c17f5e9d5dd078f"
	f.Fuzz(func(t *testing.T, message string) {
		if got, err := nostr.Decrypt(strings.Repeat("03", 32), sender, message); err == nil {
			t.Errorf("%q was read as %q", message, got)
		}
	})
}
