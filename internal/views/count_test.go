package views_test

import (
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"dateline/internal/views"
)

func TestAVisitorCountsOnceInTheWindow(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, client redis.UniversalClient) {
		clock := newClock()
		c := views.New(client, views.Options{Now: clock.Now})
		site := newSite(t, views.Set)
		visit := func() views.Outcome {
			return count(t, c, views.Hit{Site: site, Page: "a", Kind: views.View, Visitor: views.Visitor{Hash: 7}, At: clock.Now()})[0]
		}
		if got, want := visit(), (views.Outcome{Counted: true, New: true, Total: 1}); got != want {
			t.Errorf("first view: %+v, want %+v", got, want)
		}
		clock.add(30 * time.Minute)
		if got, want := visit(), (views.Outcome{Total: 1}); got != want {
			t.Errorf("view within the window: %+v, want %+v", got, want)
		}
		clock.add(time.Minute)
		if got, want := visit(), (views.Outcome{Counted: true, Total: 2}); got != want {
			t.Errorf("view after the window: %+v, want %+v", got, want)
		}
		fold(t, c)
		if f := must[views.Funnel](t)(c.Funnel(t.Context(), site, "a")); f.Views != 1 {
			t.Errorf("two views in 31 minutes are %d steps of the funnel, want 1", f.Views)
		}
		clock.add(31 * time.Minute)
		visit()
		fold(t, c)
		if f := must[views.Funnel](t)(c.Funnel(t.Context(), site, "a")); f.Views != 2 {
			t.Errorf("three views in 62 minutes are %d steps of the funnel, want 2", f.Views)
		}
		s := must[views.Stats](t)(c.Stats(t.Context(), site, "a"))
		if s.Views != 3 || s.Uniques != (views.Uniques{Day: 1, Week: 1, AllTime: 1}) {
			t.Errorf("stats: %+v", s)
		}
	})
}

func TestHitsThatCannotBeCounted(t *testing.T) {
	t.Parallel()
	c := views.New(nil, views.Options{})
	good := views.Hit{Site: newSite(t, views.Bitmap), Page: "a", Kind: views.View}
	for name, row := range map[string]struct {
		spoil func(*views.Hit)
		want  error
	}{
		"OK":        {func(*views.Hit) {}, nil},
		"NoPage":    {func(h *views.Hit) { h.Page = "" }, views.ErrPage},
		"LongPage":  {func(h *views.Hit) { h.Page = string(make([]byte, 201)) }, views.ErrPage},
		"NoKind":    {func(h *views.Hit) { h.Kind = "scroll" }, views.ErrKind},
		"NoWay":     {func(h *views.Hit) { h.Site.Uniques = "guess" }, views.ErrWay},
		"LargeID":   {func(h *views.Hit) { h.Visitor.ID = 1<<20 + 1 }, views.ErrID},
		"HugeSite":  {func(h *views.Hit) { h.Site.MaxID, h.Visitor.ID = 1<<31, views.LargestID+1 }, views.ErrID},
		"LargestID": {func(h *views.Hit) { h.Visitor.ID = 1 << 20 }, nil},
	} {
		h := good
		row.spoil(&h)
		if err := c.Check(h); !errors.Is(err, row.want) {
			t.Errorf("%s: %v, want %v", name, err, row.want)
		}
	}
}
