package platformtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"dateline/platforms/fake"
	"dateline/platforms/network"
)

// OptionCase is one row of a network's option matrix. Options that the network
// allows have Want, and are sent, lost and found; others have Field and Code.
type OptionCase struct {
	Name     string
	Options  string // JSON, as in the API
	NoText   bool
	Images   int
	Video    bool
	Document bool
	Reply    bool // the post replies to another one

	// CreatePath is the path of the publishing call; empty: Subject.CreatePath.
	CreatePath string

	// Want are the options that the fake network received, under its names; each
	// value is compared as JSON.
	Want map[string]any
	// Field and Code are those of the violation; empty: the options are allowed.
	Field, Code string
	// Unlisted means that Reconcile cannot find such a post, and must not claim
	// that it is absent.
	Unlisted bool
}

// testOptions runs the option matrix: each option is sent as chosen, or refused
// with its field, and a post with it whose response was lost is found once.
func testOptions(t *testing.T, s Subject) {
	parser, ok := s.Network.(network.OptionParser)
	if !ok {
		t.Skip("posts have no options")
	}
	t.Run("Unknown", func(t *testing.T) {
		_, problems := parser.ParseOptions(json.RawMessage(`{"no_such_option":true}`))
		if len(problems) != 1 || problems[0].Field != "options.no_such_option" || problems[0].Code != "unknown_option" {
			t.Errorf("got %+v, want one violation of options.no_such_option", problems)
		}
	})
	t.Run("WrongType", func(t *testing.T) {
		if _, problems := parser.ParseOptions(json.RawMessage(`"text"`)); len(problems) != 1 ||
			problems[0].Code != "unreadable_options" {
			t.Errorf("got %+v, want one unreadable_options", problems)
		}
	})
	if s.Fake != nil { // which says what a network has received
		t.Run("EveryOption", func(t *testing.T) { testOptionList(t, s, parser) })
	}
	for _, c := range s.Options {
		t.Run(c.Name, func(t *testing.T) { testOption(t, s, parser, c) })
	}
}

func testOption(t *testing.T, s Subject, parser network.OptionParser, c OptionCase) {
	options, problems := parser.ParseOptions(json.RawMessage(c.Options))
	if len(problems) > 0 {
		t.Fatalf("ParseOptions: %+v", problems)
	}
	again, err := json.Marshal(options)
	if err != nil {
		t.Fatal(err)
	}
	if !equalJSON(t, string(again), c.Options) {
		t.Errorf("options are written as %s, want %s", again, c.Options)
	}
	limits, err := s.Network.Limits(t.Context(), s.Account)
	if err != nil {
		t.Fatal(err)
	}
	sub := optionSubmission(t, s, c, options)
	problems = s.Network.Check(contentOf(sub), limits)
	if c.Field != "" {
		if !slices.ContainsFunc(problems,
			func(v network.Violation) bool { return v.Field == c.Field && v.Code == c.Code && v.Message != "" }) {
			t.Errorf("violations %+v, want %s of %s", problems, c.Code, c.Field)
		}
		return
	}
	if len(problems) > 0 {
		t.Fatalf("refused: %+v", problems)
	}
	publish(t, s, sub)
	if s.Fake == nil {
		return
	}
	wantOptions(t, s, sub, c)
	if testing.Short() {
		return // losing a response is independent of most options, and slow
	}
	lost := optionSubmission(t, s, c, options)
	testLostWithOptions(t, s, lost, c)
	wantOptions(t, s, lost, c)
}

// testLostWithOptions loses the response to a post and searches for it.
func testLostWithOptions(t *testing.T, s Subject, sub network.Submission, c OptionCase) {
	window := network.Window{From: time.Now().Add(-5 * time.Second), Known: map[string]bool{}}
	for _, p := range s.Fake.Posts() {
		window.Known[p.ID] = true
	}
	sub = prepare(t, s, sub)
	path := s.CreatePath
	if c.CreatePath != "" {
		path = c.CreatePath
	}
	inject(t, s, fake.Fault{Kind: fake.ActThen500, Method: http.MethodPost, Path: path, Count: 1})
	_, err := s.Network.Publish(t.Context(), s.Account, sub)
	clearFaults(t, s)
	wantError(t, err, network.Ambiguous, s.Account.Token)
	finding := reconcile(t, s, sub, window)
	if s.Unverifiable || c.Unlisted {
		if finding.Found || finding.Conclusive {
			t.Errorf("finding %+v, want neither found nor absent", finding)
		}
		return
	}
	posts := optionPosts(s, sub)
	if len(posts) != 1 || !finding.Found || finding.Receipt.RemoteID != posts[0].ID {
		t.Errorf("finding %+v, want the one post of %+v", finding, posts)
	}
}

func optionSubmission(t *testing.T, s Subject, c OptionCase, options network.PostOptions) network.Submission {
	t.Helper()
	plain := s
	plain.NeedsMedia = false
	sub := submission(t, plain, "Options: "+c.Name)
	s.options = options
	if c.NoText {
		sub.Text = ""
	}
	for range c.Images {
		attach(t, s, &sub, "")
	}
	if c.Video {
		media := s.NewVideo(t)
		media.Options = options
		sub.MediaIDs, sub.Media = append(sub.MediaIDs, stage(t, s, media).RemoteID), append(sub.Media, media)
	}
	if c.Document {
		media := NewDocument("Báo cáo.pdf")
		media.Options = options
		sub.MediaIDs, sub.Media = append(sub.MediaIDs, stage(t, s, media).RemoteID), append(sub.Media, media)
	}
	if c.Reply {
		sub.ReplyTo = publish(t, s, submission(t, s, "Parent of "+c.Name)).RemoteID
	}
	sub.Options = options
	return sub
}

func contentOf(sub network.Submission) network.Content {
	content := network.Content{Text: sub.Text, Reply: sub.ReplyTo != "", Options: sub.Options}
	for _, m := range sub.Media {
		content.Media = append(content.Media, m.MediaInfo)
	}
	return content
}

// optionPosts returns the fake network's posts of a submission; one without text
// is the newest.
func optionPosts(s Subject, sub network.Submission) []fake.Post {
	if sub.Text != "" {
		return published(s, sub)
	}
	posts := s.Fake.Posts()
	return posts[len(posts)-1:]
}

func wantOptions(t *testing.T, s Subject, sub network.Submission, c OptionCase) {
	t.Helper()
	posts := optionPosts(s, sub)
	if len(posts) != 1 {
		t.Fatalf("%d posts, want 1", len(posts))
	}
	for name, want := range c.Want {
		if got := posts[0].Options[name]; !equalJSON(t, encodeJSON(t, got), encodeJSON(t, want)) {
			t.Errorf("%s: the network received %s = %s, want %s", c.Name, name, encodeJSON(t, got), encodeJSON(t, want))
		}
	}
}

func encodeJSON(t *testing.T, value any) string {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func equalJSON(t *testing.T, a, b string) bool {
	t.Helper()
	sorted := func(text string) string {
		var value any
		if err := json.NewDecoder(strings.NewReader(text)).Decode(&value); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return encodeJSON(t, value)
	}
	return sorted(a) == sorted(b)
}
