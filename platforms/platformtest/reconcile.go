package platformtest

import (
	"net/http"
	"testing"
	"time"

	"dateline/platforms/fake"
	"dateline/platforms/network"
)

func reconcile(t *testing.T, s Subject, sub network.Submission, window network.Window) network.Finding {
	t.Helper()
	finding, err := s.Network.Reconcile(t.Context(), s.Account, sub, window)
	if err != nil {
		t.Fatalf("Reconcile: %v", err)
	}
	if len(finding.Evidence) == 0 {
		t.Error("finding without evidence")
	}
	return finding
}

// testReconcile needs no faults: the posts exist, and only the receipts are
// missing.
func testReconcile(t *testing.T, s Subject) {
	window := network.Window{From: time.Now().Add(-5 * time.Second)}
	absent := prepare(t, s, submission(t, s, "Never sent"))
	if finding := reconcile(t, s, absent, window); finding.Found || !finding.Conclusive {
		t.Errorf("finding %+v for a post that was never made", finding)
	}
	for name, text := range map[string]string{
		"Plain":      "One line",
		"Vietnamese": "Bản tin chiều: Hà Nội mưa lớn, giá điện tăng",
		"Decomposed": "Ba\u0309n tin chie\u0302\u0300u",
		"Paragraphs": "One\n\nTwo\nThree  with  spaces\n\n\n\nFour",
		"Links": "Read https://www.example.com/a/very/long/path/that/is/shortened?x=1&y=2#top and " +
			"http://example.com.",
		"Mention": "Thanks @someone@social.example, and @other!",
		"Hashtag": "Weather #Hanoi #mưa",
		"Escapes": `5 < 6 & "7" > 'x' &amp; <b>bold</b>`,
		"Emoji":   "Family 👨‍👩‍👧‍👦 flag 🇻🇳 thumb 👍🏽",
	} {
		t.Run(name, func(t *testing.T) {
			sub := prepare(t, s, submission(t, s, text))
			receipt := publish(t, s, sub)
			finding := reconcile(t, s, sub, window)
			if !finding.Found || finding.Receipt.RemoteID != receipt.RemoteID {
				t.Errorf("finding %+v, want %s", finding, receipt.RemoteID)
			}
		})
	}
	t.Run("Known", func(t *testing.T) {
		sub := prepare(t, s, submission(t, s, "Posted by another operation"))
		receipt := publish(t, s, sub)
		known := network.Window{From: window.From, Known: map[string]bool{receipt.RemoteID: true}}
		if finding := reconcile(t, s, sub, known); finding.Found {
			t.Errorf("claimed a post that has an owner: %+v", finding)
		}
	})
	t.Run("SinceID", func(t *testing.T) {
		sub := prepare(t, s, submission(t, s, "From before"))
		receipt := publish(t, s, sub)
		since := network.Window{From: window.From, SinceID: receipt.RemoteID}
		if finding := reconcile(t, s, sub, since); finding.Found {
			t.Errorf("claimed a post from before: %+v", finding)
		}
	})
	t.Run("OlderTwin", func(t *testing.T) {
		sub := prepare(t, s, submission(t, s, "The same text as last week"))
		publish(t, s, sub)
		if s.UnboundedSearch {
			duplicate := prepare(t, s, network.Submission{
				Key: sub.Key + "2", Text: sub.Text, MediaIDs: sub.MediaIDs, Media: sub.Media,
			})
			if finding := reconcile(t, s, duplicate, window); finding.Found || !finding.Conclusive {
				t.Errorf("found an older post with the same text: %+v", finding)
			}
			return
		}
		time.Sleep(50*time.Millisecond + s.Resolution)
		later := network.Window{From: time.Now()}
		if s.Fake == nil {
			later.From = later.From.Add(time.Minute) // clocks can differ
		}
		if finding := reconcile(t, s, sub, later); finding.Found {
			t.Errorf("found an older post with the same text: %+v", finding)
		}
	})
	t.Run("Twins", func(t *testing.T) {
		if s.FindsByHandle {
			testDuplicatesByHandle(t, s, window)
			return
		}
		if s.RejectsDuplicates {
			return // without attachments
		}
		sub := submission(t, s, "Twice")
		if s.RejectsDuplicateText {
			testDuplicateRejected(t, s, submission(t, s, "Once"))
			attach(t, s, &sub, "first")
		}
		sub = prepare(t, s, sub)
		first := publish(t, s, sub)
		second := sub
		second.Key, second.Handle = second.Key+"2", ""
		if s.RejectsDuplicateText {
			second.MediaIDs, second.Media = nil, nil
			attach(t, s, &second, "second")
		}
		second = prepare(t, s, second)
		publish(t, s, second)
		if finding := reconcile(t, s, sub, window); finding.Found || finding.Conclusive {
			t.Errorf("chose between two: %+v", finding)
		}
		known := network.Window{From: window.From, Known: map[string]bool{first.RemoteID: true}}
		if finding := reconcile(t, s, second, known); !finding.Found {
			t.Errorf("did not find the one that is left: %+v", finding)
		}
	})
	t.Run("OtherReplyTarget", func(t *testing.T) {
		parent := publish(t, s, submission(t, s, "Parent"))
		sub := prepare(t, s, submission(t, s, "Same text, not a reply"))
		publish(t, s, sub)
		if s.FindsByHandle {
			return // the handle distinguishes them
		}
		sub.ReplyTo = parent.RemoteID
		if finding := reconcile(t, s, sub, window); finding.Found {
			t.Errorf("found a post that is not a reply: %+v", finding)
		}
	})
	t.Run("OtherMedia", func(t *testing.T) {
		sub := prepare(t, s, submission(t, s, "Same text, no image"))
		publish(t, s, sub)
		if s.FindsByHandle {
			return
		}
		sub.MediaIDs, sub.Media = append(sub.MediaIDs, "1"), append(sub.Media, newImage(t, s, ""))
		if finding := reconcile(t, s, sub, window); finding.Found {
			t.Errorf("found a post without the image: %+v", finding)
		}
	})
}

// testDuplicateRejected checks that a repeated text is not published again, and
// that the refusal reports it.
func testDuplicateRejected(t *testing.T, s Subject, sub network.Submission) {
	t.Helper()
	publish(t, s, sub)
	again := sub
	again.Key += "2"
	_, err := s.Network.Publish(t.Context(), s.Account, prepare(t, s, again))
	wantError(t, err, network.Duplicate, s.Account.Token)
	if s.Fake != nil && len(published(s, sub)) != 1 {
		t.Errorf("published %+v", published(s, sub))
	}
}

// testDuplicatesByHandle checks that two posts with the same text are each found.
func testDuplicatesByHandle(t *testing.T, s Subject, window network.Window) {
	for _, duplicate := range []network.Submission{submission(t, s, "Twice"), submission(t, s, "Twice")} {
		duplicate.Text = "Twice, with different text"
		duplicate = prepare(t, s, duplicate)
		receipt := publish(t, s, duplicate)
		if finding := reconcile(t, s, duplicate, window); !finding.Found ||
			finding.Receipt.RemoteID != receipt.RemoteID {
			t.Errorf("finding %+v, want %s", finding, receipt.RemoteID)
		}
	}
}

// testUnverifiable checks that a post is never reported as absent by a network
// that cannot show it.
func testUnverifiable(t *testing.T, s Subject) {
	finding := reconcile(t, s, submission(t, s, "Who knows"), network.Window{From: time.Now()})
	if finding.Found || finding.Conclusive {
		t.Errorf("got finding %+v for an unverifiable network", finding)
	}
}

func testReconcileFaults(t *testing.T, s Subject) {
	t.Run("Hidden", func(t *testing.T) {
		from := time.Now().Add(-time.Second)
		inject(t, s, fake.Fault{
			Kind: fake.Hide, Method: http.MethodPost, Path: s.CreatePath, For: 300 * time.Millisecond,
		})
		sub := prepare(t, s, submission(t, s, "Late in listings"))
		sent := time.Now()
		receipt := publish(t, s, sub)
		hidden := time.Since(sent) < 250*time.Millisecond // an adapter may wait until it is shown
		if finding := reconcile(t, s, sub, network.Window{From: from}); finding.Found && hidden {
			t.Errorf("found a hidden post: %+v", finding)
		}
		time.Sleep(350 * time.Millisecond)
		if finding := reconcile(t, s, sub, network.Window{From: from}); finding.Receipt.RemoteID != receipt.RemoteID {
			t.Errorf("finding %+v, want %s", finding, receipt.RemoteID)
		}
	})
	for name, skew := range map[string]time.Duration{"Behind": -3 * time.Minute, "Ahead": 3 * time.Minute} {
		t.Run("Clock"+name, func(t *testing.T) {
			from := time.Now().Add(-time.Second)
			inject(t, s, fake.Fault{Kind: fake.ClockSkew, For: skew, Count: -1})
			sub := prepare(t, s, submission(t, s, "Another clock"))
			receipt := publish(t, s, sub)
			if finding := reconcile(t, s, sub,
				network.Window{From: from}); finding.Receipt.RemoteID != receipt.RemoteID {
				t.Errorf("finding %+v, want %s", finding, receipt.RemoteID)
			}
		})
	}
	t.Run("ManyNewer", func(t *testing.T) {
		if testing.Short() {
			t.Skip("publishes 50 posts; run without -short")
		}
		from := time.Now().Add(-time.Second)
		sub := prepare(t, s, submission(t, s, "Buried"))
		receipt := publish(t, s, sub)
		for range 50 {
			publish(t, s, submission(t, s, "On top"))
		}
		if finding := reconcile(t, s, sub, network.Window{From: from}); finding.Receipt.RemoteID != receipt.RemoteID {
			t.Errorf("finding %+v, want %s", finding, receipt.RemoteID)
		}
	})
}
