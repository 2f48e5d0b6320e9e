package platformtest

import (
	"context"
	"crypto/rand"
	"net/http"
	"testing"
	"time"

	"dateline/platforms/fake"
	"dateline/platforms/network"
)

// testFaults publishes a post with each fault. The class must be correct, and
// Reconcile must find exactly the lost posts that exist.
func testFaults(t *testing.T, s Subject) {
	for _, row := range []struct {
		name  string
		fault fake.Fault
		class network.Class
		acted bool
	}{
		{"ResetBefore", fake.Fault{Kind: fake.ResetBefore}, network.Ambiguous, false},
		{"ActThenReset", fake.Fault{Kind: fake.ActThenReset}, network.Ambiguous, true},
		{"ActThen500", fake.Fault{Kind: fake.ActThen500}, network.Ambiguous, true},
		{"ActThenHang", fake.Fault{Kind: fake.ActThenHang}, network.Ambiguous, true},
		{"Malformed2xx", fake.Fault{Kind: fake.Malformed2xx}, network.Ambiguous, true},
		{
			"Status502",
			fake.Fault{Kind: fake.Status, Status: 502, Body: "<html>Bad gateway</html>"},
			network.Ambiguous,
			false,
		},
		{"Status503", fake.Fault{Kind: fake.Status, Status: 503}, network.Ambiguous, false},
		{"Status400", fake.Fault{Kind: fake.Status, Status: 400}, network.Rejected, false},
		{"Status403", fake.Fault{Kind: fake.Status, Status: 403}, network.Rejected, false},
		{"Status404", fake.Fault{Kind: fake.Status, Status: 404}, network.Rejected, false},
		{"Status422", fake.Fault{Kind: fake.Status, Status: 422}, network.Rejected, false},
		{
			"Redirect",
			fake.Fault{Kind: fake.Status, Status: 307, Header: map[string]string{"Location": "/elsewhere"}},
			network.Rejected, false,
		},
		{"TokenExpired", fake.Fault{Kind: fake.TokenExpired}, network.Auth, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			if class, ok := s.WantClasses[row.name]; ok {
				row.class = class
			}
			row.fault.Method, row.fault.Path = http.MethodPost, s.CreatePath
			sub := prepare(t, s, submission(t, s, row.name))
			inject(t, s, row.fault)
			from := time.Now().Add(-time.Second)
			_, err := s.Network.Publish(t.Context(), s.Account, sub)
			wantError(t, err, row.class, s.Account.Token)
			clearFaults(t, s)
			posts := published(s, sub)
			if acted := len(posts) == 1; acted != row.acted || len(posts) > 1 {
				t.Fatalf("the fake has %d posts", len(posts))
			}
			if row.class != network.Ambiguous || s.Unverifiable {
				return
			}
			finding := reconcile(t, s, sub, network.Window{From: from})
			if finding.Found != row.acted || !finding.Conclusive && (row.acted || len(s.permanentFaults) == 0) {
				t.Fatalf("finding %+v, want found %v", finding, row.acted)
			}
			if row.acted && (finding.Receipt.RemoteID != posts[0].ID || finding.Receipt.URL != posts[0].URL) {
				t.Errorf("found %+v, want %s", finding.Receipt, posts[0].ID)
			}
		})
	}
	t.Run("Refuse", func(t *testing.T) { testRefuse(t, s) })
	if _, prepares := s.Network.(network.Preparer); prepares || !s.MediaWithPost {
		t.Run("Media", func(t *testing.T) { testMediaFaults(t, s) })
	}
	t.Run("Throttled", func(t *testing.T) { testThrottled(t, s) })
	t.Run("Canceled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		sub := prepare(t, s, submission(t, s, "Canceled"))
		_, err := s.Network.Publish(ctx, s.Account, sub)
		wantError(t, err, network.NotSent, s.Account.Token)
		if posts := published(s, sub); len(posts) != 0 {
			t.Errorf("published %+v", posts)
		}
	})
	t.Run("Echo", func(t *testing.T) {
		sub := prepare(t, s, submission(t, s, "Echo"))
		inject(t, s, fake.Fault{
			Kind: fake.Status, Status: 422, Path: s.CreatePath,
			Body: `{"error":"Bad token ` + s.Account.Token.Reveal() + `"}`,
		})
		_, err := s.Network.Publish(t.Context(), s.Account, sub)
		wantError(t, err, network.Rejected, s.Account.Token)
	})
	t.Run("Read", func(t *testing.T) {
		if s.Unverifiable {
			return // Reconcile makes no call
		}
		sub := prepare(t, s, submission(t, s, "Read"))
		// For every call, because net/http repeats a GET by itself.
		inject(t, s, fake.Fault{Kind: fake.ResetBefore, Method: http.MethodGet, Count: -1})
		_, err := s.Network.Reconcile(t.Context(), s.Account, sub, network.Window{From: time.Now()})
		wantError(t, err, network.Transient, s.Account.Token)
	})
	t.Run("Slow", func(t *testing.T) {
		inject(t, s, fake.Fault{Kind: fake.SlowUpload, Method: http.MethodPost, For: 100 * time.Millisecond})
		plain := s
		plain.NeedsMedia = false
		sub := submission(t, plain, "Slow upload")
		attach(t, s, &sub, "slow")
		publish(t, s, sub)
	})
}

// testMediaFaults checks that failed processing is final, and that media that the
// network deleted can be staged again, because nothing was published.
func testMediaFaults(t *testing.T, s Subject) {
	t.Run("Error", func(t *testing.T) {
		if s.HidesMediaStatus {
			return // reported when the post is sent
		}
		inject(t, s, fake.Fault{Kind: fake.MediaError, For: 20 * time.Millisecond, Count: -1})
		wantError(t, deferReadiness(t, s), network.Rejected, s.Account.Token)
	})
	t.Run("Expired", func(t *testing.T) {
		if s.HidesMediaStatus {
			return
		}
		inject(t, s, fake.Fault{Kind: fake.MediaExpired, For: 20 * time.Millisecond, Count: -1})
		if e := wantError(t, deferReadiness(t, s), network.Transient,
			s.Account.Token); e.Code != network.CodeMediaExpired {
			t.Errorf("code %s, want %s", e.Code, network.CodeMediaExpired)
		}
	})
	plain := s
	plain.NeedsMedia = false
	t.Run("Finished", func(t *testing.T) {
		inject(t, s, fake.Fault{Kind: fake.MediaFinished, For: 20 * time.Millisecond, Count: -1})
		sub := submission(t, plain, "Processed")
		attach(t, s, &sub, "processed")
		publish(t, s, sub)
	})
	t.Run("Dropped", func(t *testing.T) {
		if s.KeepsMedia {
			return
		}
		if testing.Short() {
			t.Skip("waits until the network drops a file")
		}
		// Longer than staging and preparing take
		inject(t, s, fake.Fault{Kind: fake.MediaTTL, For: 3 * time.Second, Count: -1})
		sub := submission(t, plain, "Dropped")
		attach(t, s, &sub, "dropped")
		sub = prepare(t, s, sub)
		time.Sleep(3500 * time.Millisecond)
		_, err := s.Network.Publish(t.Context(), s.Account, sub)
		if e := wantError(t, err, network.Transient, s.Account.Token); e.Code != network.CodeMediaExpired {
			t.Errorf("code %s, want %s", e.Code, network.CodeMediaExpired)
		}
		if posts := published(s, sub); len(posts) != 0 {
			t.Errorf("published %+v", posts)
		}
		clearFaults(t, s)
		sub.MediaIDs, sub.Media, sub.Handle = nil, nil, ""
		attach(t, s, &sub, "staged again")
		publish(t, s, sub)
	})
}

// deferReadiness stages an attachment and prepares a post with it, and returns
// the error that ends the processing.
func deferReadiness(t *testing.T, s Subject) error {
	t.Helper()
	var media network.Media
	if s.NewProcessedMedia != nil {
		media = s.NewProcessedMedia(t)
	} else {
		media = newImage(t, s, "unready")
	}
	staged, err := s.Network.Stage(t.Context(), s.Account, media)
	for n := 0; err == nil && !staged.Ready; n++ {
		if n == 100 {
			t.Fatal("the processing has no end")
		}
		time.Sleep(10 * time.Millisecond)
		staged, err = s.Network.StageStatus(t.Context(), s.Account, staged)
	}
	preparer, ok := s.Network.(network.Preparer)
	if err != nil || !ok {
		return err
	}
	sub := network.Submission{
		Key: rand.Text(), Text: rand.Text(), MediaIDs: []string{staged.RemoteID}, Media: []network.Media{media},
	}
	for range 100 {
		ready, err := preparer.Prepare(t.Context(), s.Account, sub)
		if err != nil || ready.Ready {
			return err
		}
		sub.Handle = ready.Handle
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the preparation has no end")
	return nil
}

func testRefuse(t *testing.T, s Subject) {
	sub := prepare(t, s, submission(t, s, "Refused"))
	resume, err := s.Fake.Refuse(0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := resume(); err != nil {
			t.Error(err)
		}
	}()
	s.Client.CloseIdleConnections()
	_, err = s.Network.Publish(t.Context(), s.Account, sub)
	wantError(t, err, network.NotSent, s.Account.Token)
	if err := resume(); err != nil {
		t.Fatal(err)
	}
	if posts := published(s, sub); len(posts) != 0 {
		t.Fatalf("published %+v", posts)
	}
	publish(t, s, sub)
}

func testThrottled(t *testing.T, s Subject) {
	sub := prepare(t, s, submission(t, s, "Throttled"))
	inject(t, s, fake.Fault{
		Kind: fake.Status, Status: http.StatusTooManyRequests, Path: s.CreatePath, For: time.Minute,
	})
	_, err := s.Network.Publish(t.Context(), s.Account, sub)
	e := wantError(t, err, network.Throttled, s.Account.Token)
	until := time.Now().Add(time.Minute)
	if s.DailyQuota {
		until = time.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	}
	if e.RetryAt.Sub(until).Abs() > 10*time.Second {
		t.Errorf("retry at %v, want %v", e.RetryAt, until)
	}
	if e.Scope != network.ScopeAccount && e.Scope != network.ScopeApp {
		t.Errorf("throttled with scope %q", e.Scope)
	}
	wantRates(t, s, network.CallPublish, e.Rates, 0)
	publish(t, s, sub)
}
