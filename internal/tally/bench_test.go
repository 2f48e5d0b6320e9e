package tally_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/enginetest"
	"dateline/internal/views"
)

// BenchmarkFlush brings 100,000 posts with a view each to Postgres, after as
// many have been there before: what a minute of a large site brings. The pause
// for the append-only file (tally.Settle) is left out.
func BenchmarkFlush(b *testing.B) {
	const pages = 100_000
	r := open(b, enginetest.Redis(b))
	r.counter = views.New(r.redis, views.Options{})
	r.Counter = r.counter
	names := make([]string, pages)
	for i := range names {
		names[i] = uuid.Must(uuid.NewV7()).String()
	}
	count := func() {
		for from := 0; from < pages; from += 1000 {
			hits := make([]views.Hit, 1000)
			for i := range hits {
				hits[i] = views.Hit{Site: r.site, Page: names[from+i], Kind: views.View, Visitor: views.Visitor{Hash: r.visitors.Add(1) * 0x9e3779b97f4a7c15},
					At: time.Now(), Country: "VN", Device: "mobile", Referrer: "facebook.com"}
			}
			_, err := r.counter.Count(b.Context(), hits)
			r.must(err)
		}
		r.must(r.counter.Fold(b.Context()))
	}
	count()
	r.flush() // all rows are new
	b.ResetTimer()
	for range b.N {
		b.StopTimer()
		count()
		b.StartTimer()
		if done := r.flush(); done.Pages != pages {
			b.Fatalf("%+v", done)
		}
	}
}
