package counter_test

import (
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"dateline/internal/audience/counter"
)

func TestCount_DeduplicatesWithinWindow(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, client redis.UniversalClient) {
		clock := newClock()
		c := counter.New(client, counter.Options{Now: clock.Now})
		site := newSite(t, counter.Set)
		visit := func() counter.Outcome {
			return count(t, c, counter.Hit{
				Site: site, Page: "a", Kind: counter.View, Visitor: counter.Visitor{Hash: 7},
				At: clock.Now(),
			})[0]
		}
		if got, want := visit(), (counter.Outcome{Counted: true, New: true, Total: 1}); got != want {
			t.Errorf("first view: %+v, want %+v", got, want)
		}
		clock.add(30 * time.Minute)
		if got, want := visit(), (counter.Outcome{Total: 1}); got != want {
			t.Errorf("view within the window: %+v, want %+v", got, want)
		}
		clock.add(time.Minute)
		if got, want := visit(), (counter.Outcome{Counted: true, Total: 2}); got != want {
			t.Errorf("view after the window: %+v, want %+v", got, want)
		}
		aggregate(t, c)
		if f := must[counter.Funnel](t)(c.Funnel(t.Context(), site, "a")); f.Views != 1 {
			t.Errorf("two views in 31 minutes are %d steps of the funnel, want 1", f.Views)
		}
		clock.add(31 * time.Minute)
		visit()
		aggregate(t, c)
		if f := must[counter.Funnel](t)(c.Funnel(t.Context(), site, "a")); f.Views != 2 {
			t.Errorf("three views in 62 minutes are %d steps of the funnel, want 2", f.Views)
		}
		s := must[counter.Stats](t)(c.Stats(t.Context(), site, "a"))
		if s.Views != 3 || s.Uniques != (counter.Uniques{Day: 1, Week: 1, AllTime: 1}) {
			t.Errorf("stats: %+v", s)
		}
	})
}

func TestValidate_Errors(t *testing.T) {
	t.Parallel()
	good := counter.Hit{Site: newSite(t, counter.Bitmap), Page: "a", Kind: counter.View}
	for name, row := range map[string]struct {
		spoil func(*counter.Hit)
		want  error
	}{
		"OK":       {func(*counter.Hit) {}, nil},
		"NoPage":   {func(h *counter.Hit) { h.Page = "" }, counter.ErrPage},
		"LongPage": {func(h *counter.Hit) { h.Page = string(make([]byte, 201)) }, counter.ErrPage},
		"NoKind":   {func(h *counter.Hit) { h.Kind = "scroll" }, counter.ErrKind},
		"NoWay":    {func(h *counter.Hit) { h.Site.UniqueMethod = "guess" }, counter.ErrUniqueMethod},
		"LargeID":  {func(h *counter.Hit) { h.Visitor.ID = 1<<20 + 1 }, counter.ErrVisitorID},
		"HugeSite": {
			func(h *counter.Hit) { h.Site.MaxID, h.Visitor.ID = 1<<31, counter.MaxVisitorID+1 },
			counter.ErrVisitorID,
		},
		"LargestID": {func(h *counter.Hit) { h.Visitor.ID = 1 << 20 }, nil},
	} {
		h := good
		row.spoil(&h)
		if err := h.Validate(); !errors.Is(err, row.want) {
			t.Errorf("%s: %v, want %v", name, err, row.want)
		}
	}
}
