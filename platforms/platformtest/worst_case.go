package platformtest

import (
	"net/http"
	"testing"
	"time"

	"dateline/platforms/fake"
	"dateline/platforms/network"
)

// testWorstCase repeats the faults against a server that ignores idempotency keys
// and the start of listings, and rewrites listed texts. A post that exists must
// be found, or the finding must be inconclusive: it must never be reported as
// absent, because it would be sent again.
func testWorstCase(t *testing.T, s Subject) {
	for _, kind := range []fake.FaultKind{fake.IgnoreKey, fake.IgnoreSince, fake.RewriteText} {
		s.permanentFaults = append(s.permanentFaults, fake.Fault{Kind: kind, Count: -1})
	}
	clearFaults(t, s)
	t.Cleanup(s.Fake.ClearFaults)
	t.Run("Faults", func(t *testing.T) { testFaults(t, s) })
	if s.Unverifiable {
		return
	}
	for name, text := range map[string]string{
		"EscapedAsterisk":   `Price \*with tax\* rises`,
		"EscapedUnderscore": `The file \_config\_ is public`,
		"EncodedAmpersand":  "Research &amp; development budget doubles",
		"EncodedCopyright":  "Photos &copy; the harbour office",
		"Emphasis":          "The *only* witness says **no**",
		"Typography":        "They said 'wait' - and waited...",
		"Vietnamese":        "Giá vàng tăng \\*kỷ lục\\* &amp; đô la giảm...",
		"WhiteSpace":        "One\n\n\n\ntwo    three",
	} {
		t.Run(name, func(t *testing.T) {
			sub := prepare(t, s, submission(t, s, text))
			from := time.Now().Add(-time.Second)
			inject(t, s, fake.Fault{Kind: fake.ActThenReset, Method: http.MethodPost, Path: s.CreatePath})
			_, err := s.Network.Publish(t.Context(), s.Account, sub)
			wantError(t, err, network.Ambiguous, s.Account.Token)
			clearFaults(t, s)
			finding := reconcile(t, s, sub, network.Window{From: from})
			if posts := published(s, sub); len(posts) != 1 || !finding.Found ||
				finding.Receipt.RemoteID != posts[0].ID {
				t.Errorf("got %+v, want the one of %+v", finding, posts)
			}
		})
	}
	t.Run("RewrittenBeyondRecognition", func(t *testing.T) {
		if s.FindsByHandle {
			return // the handle identifies it whatever its text
		}
		sub := prepare(t, s, submission(t, s, "The harbour master retires in spring after thirty years at sea"))
		from := time.Now().Add(-time.Second)
		publish(t, s, sub)
		sub.Text = "UPDATE: " + sub.Text + " [shortened by the server]"
		if finding := reconcile(t, s, sub, network.Window{From: from}); finding.Found && len(sub.MediaIDs) == 0 ||
			!finding.Found && finding.Conclusive {
			t.Errorf("got %+v, want an inconclusive result", finding)
		}
	})
	t.Run("TwinsByTime", func(t *testing.T) {
		if s.FindsByHandle || s.RejectsDuplicateText || s.RejectsDuplicates || s.NeedsMedia {
			return
		}
		sub := submission(t, s, "Twice at the same second")
		from := time.Now().Add(-time.Second)
		for place := range 2 {
			if finding := reconcile(t, s, sub, network.Window{From: from, Pending: 2, Position: place}); finding.Found {
				t.Errorf("found before anything was sent: %+v", finding)
			}
		}
		first := publish(t, s, sub)
		time.Sleep(5*time.Millisecond + s.Resolution)
		duplicate := sub
		duplicate.Key += "2"
		second := publish(t, s, duplicate)
		for place, want := range []string{first.RemoteID, second.RemoteID} {
			if got := reconcile(t, s, sub,
				network.Window{From: from, Pending: 2, Position: place}); got.Receipt.RemoteID != want {
				t.Errorf("place %d: got %+v, want %s", place, got, want)
			}
		}
		if got := reconcile(t, s, sub, network.Window{From: from, Pending: 2, Unassignable: true}); got.Found ||
			got.Conclusive {
			t.Errorf("two posts that differ in what is not listed: got %+v, want an inconclusive result", got)
		}
	})
}
