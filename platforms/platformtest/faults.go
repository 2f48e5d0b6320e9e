package platformtest

import (
	"context"
	"net/http"
	"testing"
	"time"

	"dateline/platforms/fake"
	"dateline/platforms/network"
)

// testFaults sends one post into every fault: the class must be right, and the
// lost ones must be found, or not, as it truly is.
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
		{"Status502", fake.Fault{Kind: fake.Status, Status: 502, Body: "<html>Bad gateway</html>"}, network.Ambiguous, false},
		{"Status503", fake.Fault{Kind: fake.Status, Status: 503}, network.Ambiguous, false},
		{"Status400", fake.Fault{Kind: fake.Status, Status: 400}, network.Rejected, false},
		{"Status403", fake.Fault{Kind: fake.Status, Status: 403}, network.Rejected, false},
		{"Status404", fake.Fault{Kind: fake.Status, Status: 404}, network.Rejected, false},
		{"Status422", fake.Fault{Kind: fake.Status, Status: 422}, network.Rejected, false},
		{"Redirect", fake.Fault{Kind: fake.Status, Status: 307, Header: map[string]string{"Location": "/elsewhere"}}, network.Rejected, false},
		{"TokenExpired", fake.Fault{Kind: fake.TokenExpired}, network.Auth, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.fault.Method, row.fault.Path = http.MethodPost, s.CreatePath
			inject(t, s, row.fault)
			sub := submission(row.name)
			from := time.Now().Add(-time.Second)
			_, err := s.Network.Publish(t.Context(), s.Account, sub)
			wantError(t, err, row.class, s.Account.Token)
			s.Fake.ClearFaults()
			posts := published(s, sub)
			if acted := len(posts) == 1; acted != row.acted || len(posts) > 1 {
				t.Fatalf("the fake holds %d posts", len(posts))
			}
			if row.class != network.Ambiguous {
				return
			}
			finding := reconcile(t, s, sub, network.Window{From: from})
			if finding.Found != row.acted || !finding.Conclusive {
				t.Fatalf("finding %+v, want found %v", finding, row.acted)
			}
			if row.acted && (finding.Receipt.RemoteID != posts[0].ID || finding.Receipt.URL != posts[0].URL) {
				t.Errorf("found %+v, want %s", finding.Receipt, posts[0].ID)
			}
		})
	}
	t.Run("Refuse", func(t *testing.T) { testRefuse(t, s) })
	t.Run("Media", func(t *testing.T) { testMediaFaults(t, s) })
	t.Run("Throttled", func(t *testing.T) { testThrottled(t, s) })
	t.Run("Cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		sub := submission("Cancelled")
		_, err := s.Network.Publish(ctx, s.Account, sub)
		wantError(t, err, network.NotSent, s.Account.Token)
		if posts := published(s, sub); len(posts) != 0 {
			t.Errorf("published %+v", posts)
		}
	})
	t.Run("Echo", func(t *testing.T) {
		inject(t, s, fake.Fault{Kind: fake.Status, Status: 422, Path: s.CreatePath,
			Body: `{"error":"Bad token ` + s.Account.Token.Reveal() + `"}`})
		_, err := s.Network.Publish(t.Context(), s.Account, submission("Echo"))
		wantError(t, err, network.Rejected, s.Account.Token)
	})
	t.Run("Read", func(t *testing.T) {
		// Each time, because net/http repeats a GET by itself.
		inject(t, s, fake.Fault{Kind: fake.ResetBefore, Method: http.MethodGet, Count: -1})
		_, err := s.Network.Reconcile(t.Context(), s.Account, submission("Read"), network.Window{From: time.Now()})
		wantError(t, err, network.Transient, s.Account.Token)
	})
	t.Run("Slow", func(t *testing.T) {
		inject(t, s, fake.Fault{Kind: fake.SlowUpload, Method: http.MethodPost, For: 100 * time.Millisecond})
		sub := submission("Slow upload")
		sub.MediaIDs = []string{stage(t, s, picture(t, "slow")).RemoteID}
		publish(t, s, sub)
	})
}

// testMediaFaults: processing that fails is final, and what the network has
// dropped may be staged again, because nothing was published.
func testMediaFaults(t *testing.T, s Subject) {
	t.Run("Error", func(t *testing.T) {
		inject(t, s, fake.Fault{Kind: fake.MediaError, For: 20 * time.Millisecond, Count: -1})
		wantError(t, unready(t, s), network.Rejected, s.Account.Token)
	})
	t.Run("Expired", func(t *testing.T) {
		inject(t, s, fake.Fault{Kind: fake.MediaExpired, For: 20 * time.Millisecond, Count: -1})
		if e := wantError(t, unready(t, s), network.Transient, s.Account.Token); e.Code != network.CodeMediaGone {
			t.Errorf("code %s, want %s", e.Code, network.CodeMediaGone)
		}
	})
	t.Run("Finished", func(t *testing.T) {
		inject(t, s, fake.Fault{Kind: fake.MediaFinished, For: 20 * time.Millisecond, Count: -1})
		sub := submission("Processed")
		sub.MediaIDs = []string{stage(t, s, picture(t, "processed")).RemoteID}
		publish(t, s, sub)
	})
	t.Run("Dropped", func(t *testing.T) {
		inject(t, s, fake.Fault{Kind: fake.MediaLife, For: 3 * time.Second, Count: -1}) // longer than stage waits
		sub := submission("Dropped")
		staged := stage(t, s, picture(t, "dropped"))
		sub.MediaIDs = []string{staged.RemoteID}
		for n := 0; n < 100; n++ {
			if _, err := s.Network.StageStatus(t.Context(), s.Account, staged); err != nil {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		_, err := s.Network.Publish(t.Context(), s.Account, sub)
		if e := wantError(t, err, network.Transient, s.Account.Token); e.Code != network.CodeMediaGone {
			t.Errorf("code %s, want %s", e.Code, network.CodeMediaGone)
		}
		if posts := published(s, sub); len(posts) != 0 {
			t.Errorf("published %+v", posts)
		}
		s.Fake.ClearFaults()
		sub.MediaIDs = []string{stage(t, s, picture(t, "staged again")).RemoteID}
		publish(t, s, sub)
	})
}

// unready stages a picture and gives the error that ends its processing.
func unready(t *testing.T, s Subject) error {
	t.Helper()
	staged, err := s.Network.Stage(t.Context(), s.Account, picture(t, "unready"))
	for range 100 {
		if err != nil || staged.Ready {
			return err
		}
		time.Sleep(10 * time.Millisecond)
		staged, err = s.Network.StageStatus(t.Context(), s.Account, staged)
	}
	t.Fatal("the processing has no end")
	return nil
}

func testRefuse(t *testing.T, s Subject) {
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
	sub := submission("Refused")
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
	inject(t, s, fake.Fault{Kind: fake.Status, Status: http.StatusTooManyRequests, Path: s.CreatePath, For: time.Minute})
	sub := submission("Throttled")
	_, err := s.Network.Publish(t.Context(), s.Account, sub)
	e := wantError(t, err, network.Throttled, s.Account.Token)
	if wait := time.Until(e.RetryAt); wait < 50*time.Second || wait > 70*time.Second {
		t.Errorf("retry in %v, want about a minute", wait)
	}
	if e.Scope != network.ScopeAccount && e.Scope != network.ScopeApp {
		t.Errorf("throttled with scope %q", e.Scope)
	}
	wantRates(t, s, network.UsePublish, e.Rates, 0)
	publish(t, s, sub)
}
