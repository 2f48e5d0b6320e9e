// Package platformtest is the conformance suite that every network passes: with
// every fault against the fake network of package fake, and without faults
// against a real server.
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

// FakeControls injects faults into a fake network and returns what it published.
// *fake.Server implements it.
type FakeControls interface {
	Inject(fake.Fault) error
	ClearFaults()
	Refuse(time.Duration) (resume func() error, err error)
	Posts() []fake.Post
	DeletePost(id string) (bool, error)
	AgePosts(by time.Duration)
}

// Subject is a network under test.
type Subject struct {
	Network   network.Network
	Connector network.Connector // nil: the network has no OAuth
	Account   network.Account   // connected and identified

	// Fake is nil against a real server; tests that need faults are then skipped.
	Fake FakeControls
	// CreatePath is the path of the publishing call, for faults.
	CreatePath string
	// ReportsRates means that responses report rate limits.
	ReportsRates bool
	// NoStatus means that responses have no HTTP status.
	NoStatus bool
	// NoRequestID means that responses contain no request id.
	NoRequestID bool
	// NoLanguage means that the network does not store a post's language.
	NoLanguage bool
	// NoAltText means that the network does not store descriptions of images.
	NoAltText bool
	// NoDelete means that the API cannot delete posts.
	NoDelete bool
	// NeedsMedia means that every post needs an attachment.
	NeedsMedia bool
	// ImageType is the type of test images: image/png (also if empty) or
	// image/jpeg.
	ImageType string
	// MediaWithPost means that attachments are sent with the post and not staged.
	MediaWithPost bool
	// TextOnlyReplies means that replies cannot have attachments.
	TextOnlyReplies bool
	// Resolution is the precision of times in listings; 0: a few milliseconds or
	// less.
	Resolution time.Duration
	// Unverifiable means that the network has no listing, so that a lost post
	// cannot be found.
	Unverifiable bool
	// RejectsDuplicateText means that a repeated text without an attachment is
	// refused as Duplicate.
	RejectsDuplicateText bool
	// FindsByHandle means that a lost post is found by its handle, which
	// distinguishes posts with the same text.
	FindsByHandle bool
	// RejectsDuplicates means that repeated content is refused, with attachments
	// too.
	RejectsDuplicates bool
	// DailyQuota means that quotas are per day (UTC), and a refusal reports only
	// that.
	DailyQuota bool
	// HidesMediaStatus means that the network does not report the processing
	// state of uploads.
	HidesMediaStatus bool
	// KeepsMedia means that the network never deletes uploads.
	KeepsMedia bool
	// UnboundedSearch means that the handle is the post's id, so that a search
	// does not depend on the window.
	UnboundedSearch bool
	// BadToken is an invalid token in the network's format; empty: any text.
	BadToken string
	// PublicReads means that posts are read without a token, so that an invalid
	// one is not detected.
	PublicReads bool
	// NewProcessedMedia returns an attachment that the network processes after
	// the upload; nil: it processes images.
	NewProcessedMedia func(t *testing.T) network.Media
	// NewVideo returns a video for option cases that need one.
	NewVideo func(t *testing.T) network.Media
	// WantClasses overrides the expected class of faults in testFaults.
	WantClasses map[string]network.Class
	// Client is the adapter's HTTP client: its idle connections are closed before
	// the port refuses new ones.
	Client *http.Client
	// Approve approves the authorize page and returns the query of the callback;
	// nil skips the tests of connecting.
	Approve func(t *testing.T, authorizeURL string) url.Values
	// NoPKCE means that codes are exchanged without a verifier.
	NoPKCE bool
	// BaseURL and RedirectURI are the arguments of Connector.Register.
	BaseURL, RedirectURI string

	// Metrics are the metrics that a network.Measurer reports; nil skips its tests.
	Metrics []MetricCase
	// InsightsScope is the scope without which some or all metrics cannot be read;
	// empty: none is needed.
	InsightsScope string

	// Stored returns the text that the fake network has of a submission; nil: its text.
	Stored func(network.Submission) string

	// options are those of the post that attachments are staged for.
	options network.PostOptions
	// permanentFaults are injected in addition to every other fault.
	permanentFaults []fake.Fault

	// Compared are the parts of a post that the adapter compares with what the network
	// made of them.
	Compared []Compared

	// Options is the network's option matrix.
	Options []OptionCase

	Limits network.Limits // for Counts and Check
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
	t.Run("Mentions", func(t *testing.T) { testMentions(t, s) })
	t.Run("BadToken", func(t *testing.T) { testBadToken(t, s) })
	if s.Unverifiable {
		t.Run("Blind", func(t *testing.T) { testUnverifiable(t, s) })
	} else {
		t.Run("Reconcile", func(t *testing.T) { testReconcile(t, s) })
	}
	if s.Connector != nil && s.Approve != nil {
		t.Run("Connect", func(t *testing.T) { testConnect(t, s) })
	}
	// Last against a fake, whose listings are read from their start by some tests.
	defer t.Run("Options", func(t *testing.T) { testOptions(t, s) })
	if s.Fake == nil {
		t.Log("No fake network: skipping tests that need faults.")
		return
	}
	t.Run("Faults", func(t *testing.T) { testFaults(t, s) })
	if !s.Unverifiable {
		t.Run("ReconcileFaults", func(t *testing.T) { testReconcileFaults(t, s) })
	}
	if !testing.Short() {
		t.Run("WorstCase", func(t *testing.T) { testWorstCase(t, s) })
	}
	t.Run("Differences", func(t *testing.T) { testDifferences(t, s) })
	t.Run("Measure", func(t *testing.T) { testMeasure(t, s) })
}

// submission returns a submission with a unique text and key, and an image if
// the network requires one.
func submission(t *testing.T, s Subject, text string) network.Submission {
	t.Helper()
	sub := network.Submission{Key: rand.Text(), Text: text + " " + rand.Text()}
	if s.NeedsMedia {
		attach(t, s, &sub, "")
	}
	return sub
}

// attach stages an image for a submission.
func attach(t *testing.T, s Subject, sub *network.Submission, altText string) {
	t.Helper()
	media := newImage(t, s, altText)
	media.Options = s.options
	sub.MediaIDs = append(sub.MediaIDs, stage(t, s, media).RemoteID)
	sub.Media = append(sub.Media, media)
}

// prepare calls Prepare until it is ready.
func prepare(t *testing.T, s Subject, sub network.Submission) network.Submission {
	t.Helper()
	preparer, ok := s.Network.(network.Preparer)
	if !ok {
		return sub
	}
	for range 300 {
		ready, err := preparer.Prepare(t.Context(), s.Account, sub)
		if err != nil {
			t.Fatalf("Prepare: %v", err)
		}
		sub.Handle = ready.Handle
		if ready.Ready {
			return sub
		}
		if ready.CheckAfter <= 0 {
			t.Fatal("Prepare is not ready and CheckAfter is not set")
		}
		time.Sleep(min(ready.CheckAfter, pollInterval(s)))
	}
	t.Fatal("Prepare is still not ready after 300 calls")
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
	if len(receipt.Differences) > 0 {
		t.Errorf("a post that is as it was asked for: got the differences %+v, want none", receipt.Differences)
	}
	return receipt
}

// cleanUpPost deletes a post on real servers.
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

// published returns the fake network's posts of a submission.
func published(s Subject, sub network.Submission) []fake.Post {
	var found []fake.Post
	want := sub.Text
	if s.Stored != nil {
		want = s.Stored(sub)
	}
	for _, p := range s.Fake.Posts() {
		if p.Text == want {
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

// clearFaults removes all faults except the permanent ones.
func clearFaults(t *testing.T, s Subject) {
	t.Helper()
	s.Fake.ClearFaults()
	for _, fault := range s.permanentFaults {
		if err := s.Fake.Inject(fault); err != nil {
			t.Fatal(err)
		}
	}
}

// wantError checks the class of an error, and that it contains no secret in any
// form in which it could be logged.
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
				t.Errorf("error contains a secret: %s", strings.ReplaceAll(text, s.Reveal(), "<SECRET>"))
			}
		}
	}
	return e
}
