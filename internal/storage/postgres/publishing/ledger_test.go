package publishing_test

import (
	"slices"
	"testing"
	"time"

	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/message"
	"dateline/internal/news/article/selector"
	"dateline/internal/news/pipeline"
	"dateline/internal/publishing/post"
	"dateline/internal/testing/storetest"
)

// A state that lasts adds one timeline entry, not one per attempt.
func TestNoteOnce_AddsOneLinePerState(t *testing.T) {
	n := open(t)
	p := n.Create()
	target := p.Targets[0].ID
	for i, row := range []struct {
		event string
		want  bool
	}{
		{post.EventThrottled, true},
		{post.EventThrottled, false},
		{post.EventNetworkWait, true},
		{post.EventThrottled, true},
	} {
		said, err := n.Publishing.Ledger.AddEventOnce(t.Context(), p.ID, target, row.event, post.ActorDateline, nil)
		if err != nil || said != row.want {
			t.Errorf("note %d, %s: got %v, %v, want %v", i+1, row.event, said, err, row.want)
		}
	}
	want := []string{post.EventCreated, post.EventThrottled, post.EventNetworkWait, post.EventThrottled}
	if got := n.EventTypes(p); !slices.Equal(got, want) {
		t.Errorf("timeline: got %v, want %v", got, want)
	}
	if said, err := n.Publishing.Ledger.AddEventOnce(t.Context(), storetest.NewID(), target, post.EventThrottled, post.ActorDateline, nil); said ||
		err == nil {
		t.Errorf("an unknown post: got %v, %v, want an error", said, err)
	}
	if err := n.Publishing.Ledger.AddEvent(t.Context(), storetest.NewID(), nil, post.EventThrottled, post.ActorDateline, nil); err == nil {
		t.Error("a line for an unknown post: got no error")
	}
}

// A failed query must never look like an answer: "no call is open" or "nothing was
// published" would cause a second send.
func TestPublishing_WithoutTheDatabaseIsAnError(t *testing.T) {
	n := open(t)
	_, d := n.Seed(n.Workspace.ID, "https://news.example/")
	p := n.Create()
	c := n.Claim(p, 0, 1, time.Minute)
	n.Close()
	ctx := t.Context()
	for name, call := range map[string]func() error{
		"Claim": func() error {
			_, _, err := n.Publishing.Ledger.Claim(ctx, storetest.Call(p, 0, 2), time.Minute)
			return err
		},
		"OpenCall":             func() error { _, _, err := n.Publishing.Ledger.OpenCall(ctx, c.TargetID); return err },
		"LastEpoch":            func() error { _, err := n.Publishing.Ledger.LastEpoch(ctx, c.TargetID, 0, 1); return err },
		"CountUnresolvedSends": func() error { _, err := n.Publishing.Ledger.CountUnresolvedSends(ctx, c.TargetID, 0, 1); return err },
		"UnresolvedSince": func() error {
			_, _, err := n.Publishing.Ledger.UnresolvedSince(ctx, c.TargetID, 0, c.OperationID)
			return err
		},
		"SimilarCalls": func() error { _, err := n.Publishing.Ledger.SimilarCalls(ctx, n.Account.ID, c, time.Now()); return err },
		"ClaimedRemoteIDs": func() error {
			_, err := n.Publishing.Ledger.ClaimedRemoteIDs(ctx, n.Account.ID, time.Now())
			return err
		},
		"PublishedSegments": func() error {
			_, err := n.Publishing.Ledger.PublishedSegments(ctx, c.TargetID)
			return err
		},
		"Parent":   func() error { _, _, err := n.Publishing.Ledger.Parent(ctx, p.ID, n.Account.ID); return err },
		"TakeOver": func() error { _, _, err := n.Publishing.Ledger.TakeOver(ctx, c, c.Fence, time.Minute); return err },
		"RenewClaim": func() error {
			_, err := n.Publishing.Ledger.RenewClaim(ctx, c.TargetID, c.Fence, time.Minute)
			return err
		},
		"SetCallState": func() error { return n.Publishing.Ledger.SetCallState(ctx, c.OperationID, post.CallAmbiguous, nil) },
		"Note": func() error {
			return n.Publishing.Ledger.AddEvent(ctx, p.ID, nil, post.EventNetworkWait, post.ActorDateline, nil)
		},
		"NoteOnce": func() error {
			_, err := n.Publishing.Ledger.AddEventOnce(ctx, p.ID, c.TargetID, post.EventNetworkWait, post.ActorDateline, nil)
			return err
		},
		"Finish": func() error {
			_, _, err := n.Publishing.Ledger.RecordOutcome(ctx, storetest.Posted(c, "1"))
			return err
		},
		"FinishPosted": func() error {
			_, err := n.Publishing.Ledger.RecordPosted(ctx, []post.Outcome{storetest.Posted(c, "1")})
			return err
		},
		"CountPlanned": func() error {
			_, err := n.Publishing.Posts.CountPlanned(ctx, n.Workspace.ID, n.Account.ID, time.Now(), time.Now(), 9)
			return err
		},
		"RollBackSelectors": func() error {
			_, _, err := n.News.Articles.RollBackSelectors(ctx, d, n.Workspace.ID, message.Message{}, false)
			return err
		},
		"ActivateSelectors": func() error {
			_, err := n.News.Articles.ActivateSelectors(ctx, d, n.Workspace.ID, 1, message.Message{})
			return err
		},
		"LearnedSelectors": func() error {
			_, _, err := n.News.Articles.SaveLearnedSelectors(ctx, d, pipeline.Selectors{})
			return err
		},
		"AddSelectors": func() error {
			_, _, err := n.News.Articles.AddSelectors(ctx, d, n.Workspace.ID, pipeline.Selectors{}, idempotency.Key{})
			return err
		},
		"WishSelectors": func() error {
			return n.News.Articles.RequestSelectorAction(ctx, d.ID, selector.ActionLearn, message.Message{})
		},
	} {
		if err := call(); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}
