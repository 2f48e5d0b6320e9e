// Package platformtest is the one suite that every network passes: against the
// fake of package fake with every fault, and against a real server with what
// needs none.
package platformtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/fake"
	"dateline/platforms/network"
)

// FakeControls break a fake network and tell what it really published. A
// *fake.Server has them.
type FakeControls interface {
	Inject(fake.Fault) error
	ClearFaults()
	Refuse(time.Duration) (resume func() error, err error)
	Posts() []fake.Post
}

// Subject is one network under test.
type Subject struct {
	Network   network.Network
	Connector network.Connector // nil: the network has no OAuth
	Account   network.Account   // connected and identified

	// Fake is nil against a real server; what needs faults is then left out.
	Fake FakeControls
	// CreatePath is where the publishing call goes, for faults.
	CreatePath string
	// ReportsRates: responses say how the rate limits stand.
	ReportsRates bool
	// NoRequestID: responses carry no id of the call.
	NoRequestID bool
	// NoLanguage: a post's language gets lost.
	NoLanguage bool
	// NoAltText: descriptions of pictures get lost.
	NoAltText bool
	// NoDelete: posts cannot be deleted through the API.
	NoDelete bool
	// NeedsMedia: no post without an attachment.
	NeedsMedia bool
	// ImageType is what pictures are made as: image/png (also when empty) or image/jpeg.
	ImageType string
	// MediaWithPost: attachments come with the post, nothing is staged.
	MediaWithPost bool
	// TextOnlyReplies: what answers a post takes no attachments.
	TextOnlyReplies bool
	// Resolution of the times that listings give; 0: finer than a few milliseconds.
	Resolution time.Duration
	// Unverifiable: the network shows nobody what was published, so that nothing lost can be found.
	Unverifiable bool
	// RejectsDuplicateText: the same words without an attachment are refused as Duplicate.
	RejectsDuplicateText bool
	// FindsByHandle: a lost post is looked for by what was fixed before, so that twins are told apart.
	FindsByHandle bool
	// RejectsDuplicates: of two posts with the same content the network takes one, with attachments too.
	RejectsDuplicates bool
	// DailyQuota: limits count by the day (UTC), and a refusal says so and no more.
	DailyQuota bool
	// HidesMediaStatus: the network does not say how the processing of an upload goes.
	HidesMediaStatus bool
	// UnboundedSearch: the handle is the post's own name at the network, so that no search has to be bounded in time.
	UnboundedSearch bool
	// BadToken is wrong but formed as the network's are; empty: any text will do.
	BadToken string
	// PublicReads: posts are read without a token, so that a bad one is not noticed.
	PublicReads bool
	// NewProcessedMedia makes an attachment that the network works on after the upload;
	// nil: it does so with pictures.
	NewProcessedMedia func(t *testing.T) network.Media
	// WantClasses are the faults of testFaults that this network answers with another class.
	WantClasses map[string]network.Class
	// Client is the adapter's own: its idle connections are dropped before the
	// port refuses new ones.
	Client *http.Client
	// Approve acts as the user on the authorize page and gives the query of the
	// callback; nil leaves connecting out.
	Approve func(t *testing.T, authorizeURL string) url.Values
	// NoPKCE: codes are exchanged without a verifier.
	NoPKCE bool
	// BaseURL and RedirectURI are for Connector.Register.
	BaseURL, RedirectURI string

	// permanentFaults are faults of every request, whatever else is injected.
	permanentFaults []fake.Fault

	Limits network.Limits // for Counts and Problems
	Counts []Count
}

// Count is one row of a network's counting table.
type Count struct {
	Name, Text string
	Want       int
}

// Run runs the suite. The adapter must be made with a deadline of about a
// second for the publishing call, because a fault lets it hang.
func Run(t *testing.T, s Subject) {
	t.Run("Name", func(t *testing.T) {
		if name := s.Network.Name(); name == "" || name != strings.ToLower(name) {
			t.Errorf("Name() = %q, want a lower-case name", name)
		}
	})
	t.Run("Count", func(t *testing.T) { testCounts(t, s) })
	t.Run("Check", func(t *testing.T) { testCheck(t, s) })
	t.Run("Limits", func(t *testing.T) { testLimits(t, s) })
	t.Run("Publish", func(t *testing.T) { testPublish(t, s) })
	t.Run("Media", func(t *testing.T) { testMedia(t, s) })
	t.Run("Reply", func(t *testing.T) { testReply(t, s) })
	t.Run("Delete", func(t *testing.T) { testDelete(t, s) })
	t.Run("Identify", func(t *testing.T) { testIdentify(t, s) })
	t.Run("BadToken", func(t *testing.T) { testBadToken(t, s) })
	if s.Unverifiable {
		t.Run("Blind", func(t *testing.T) { testUnverifiable(t, s) })
	} else {
		t.Run("Reconcile", func(t *testing.T) { testReconcile(t, s) })
	}
	if s.Connector != nil && s.Approve != nil {
		t.Run("Connect", func(t *testing.T) { testConnect(t, s) })
	}
	if s.Fake == nil {
		t.Log("No fake network: what needs injected faults is left out.")
		return
	}
	t.Run("Faults", func(t *testing.T) { testFaults(t, s) })
	if !s.Unverifiable {
		t.Run("ReconcileFaults", func(t *testing.T) { testReconcileFaults(t, s) })
	}
	t.Run("WorstCase", func(t *testing.T) { testWorstCase(t, s) })
}

// submission makes one with words and a key that were never used, and a picture
// where the network takes no words alone.
func submission(t *testing.T, s Subject, text string) network.Submission {
	t.Helper()
	sub := network.Submission{Key: rand.Text(), Text: text + " " + rand.Text()}
	if s.NeedsMedia {
		attach(t, s, &sub, "")
	}
	return sub
}

// attach stages a picture for a submission.
func attach(t *testing.T, s Subject, sub *network.Submission, altText string) {
	t.Helper()
	media := newImage(t, s, altText)
	sub.MediaIDs = append(sub.MediaIDs, stage(t, s, media).RemoteID)
	sub.Media = append(sub.Media, media)
}

// prepare brings a submission as far as it gets before its time.
func prepare(t *testing.T, s Subject, sub network.Submission) network.Submission {
	t.Helper()
	preparer, ok := s.Network.(network.Preparer)
	if !ok {
		return sub
	}
	for range 100 {
		ready, err := preparer.Prepare(t.Context(), s.Account, sub)
		if err != nil {
			t.Fatalf("Prepare: %v", err)
		}
		sub.Handle = ready.Handle
		if ready.Ready {
			return sub
		}
		if ready.CheckAfter <= 0 {
			t.Fatal("Prepare is not ready and does not say when to ask again")
		}
		time.Sleep(min(ready.CheckAfter, 200*time.Millisecond))
	}
	t.Fatal("preparing has no end")
	return sub
}

func publish(t *testing.T, s Subject, sub network.Submission) network.Receipt {
	t.Helper()
	if sub.Handle == "" {
		sub = prepare(t, s, sub)
	}
	receipt, err := s.Network.Publish(t.Context(), s.Account, sub)
	if err != nil {
		t.Fatalf("Publish: %v", err)
	}
	cleanUpPost(t, s, receipt.RemoteID)
	return receipt
}

// cleanUpPost cleans up on real servers.
func cleanUpPost(t *testing.T, s Subject, remoteID string) {
	if s.Fake != nil || s.NoDelete {
		return
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Network.Delete(ctx, s.Account, remoteID); err != nil {
			t.Errorf("clean up post %s: %v", remoteID, err)
		}
	})
}

// published returns what the fake really holds of a submission.
func published(s Subject, sub network.Submission) []fake.Post {
	var found []fake.Post
	for _, p := range s.Fake.Posts() {
		if p.Text == sub.Text {
			found = append(found, p)
		}
	}
	return found
}

func inject(t *testing.T, s Subject, fault fake.Fault) {
	t.Helper()
	clearFaults(t, s)
	if err := s.Fake.Inject(fault); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Fake.ClearFaults)
}

// clearFaults leaves only the faults of every request.
func clearFaults(t *testing.T, s Subject) {
	t.Helper()
	s.Fake.ClearFaults()
	for _, fault := range s.permanentFaults {
		if err := s.Fake.Inject(fault); err != nil {
			t.Fatal(err)
		}
	}
}

// wantError checks that an error has the class and holds no secret in any form
// in which it could be logged.
func wantError(t *testing.T, err error, class network.Class, secrets ...secret.Text) *network.Error {
	t.Helper()
	var e *network.Error
	if !errors.As(err, &e) {
		t.Fatalf("error is %T (%v), want a *network.Error of class %s", err, err, class)
	}
	if e.Class != class {
		t.Errorf("class %s, want %s: %v", e.Class, class, e)
	}
	if e.Message == "" || e.Code == "" {
		t.Errorf("error without code or message: %+v", e)
	}
	for _, text := range []string{e.Error(), e.Message, e.Code, fmt.Sprintf("%v", e.Err), fmt.Sprintf("%+v", *e)} {
		for _, s := range secrets {
			if !s.Empty() && strings.Contains(text, s.Reveal()) {
				t.Errorf("an error tells a secret: %s", strings.ReplaceAll(text, s.Reveal(), "<SECRET>"))
			}
		}
	}
	return e
}
