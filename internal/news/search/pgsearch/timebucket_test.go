package pgsearch

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// The buckets contain every time in the range and little before it.
func TestBucketsBetween_CoverTheRange(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	base := time.Date(2026, 11, 22, 9, 30, 0, 0, time.UTC)
	for range 20_000 {
		// From minutes to years.
		length := time.Duration(float64(time.Minute) * float64(uint64(1)<<random.IntN(22)) * (1 + random.Float64()))
		from := base.Add(-time.Duration(random.Int64N(int64(10 * 365 * 24 * time.Hour))))
		to := from.Add(length)
		asked := bucketsBetween(from, to)
		if n := strings.Count(asked, "@"); n > maxBucketTerms+1 {
			t.Fatalf("%d names for %s", n, length)
		}
		has := func(at time.Time) bool {
			for _, name := range timeBuckets(at) {
				if strings.Contains(asked, quote(name)) {
					return true
				}
			}
			return false
		}
		inside := from.Add(time.Duration(random.Int64N(int64(length) + 1)))
		if !has(inside) || !has(from) || !has(to) {
			t.Fatalf("%s is not in %s, from %s to %s", inside, asked, from, to)
		}
		if before := from.Add(-length - 2*time.Hour); has(before) {
			t.Fatalf("%s is in %s, from %s to %s", before, asked, from, to)
		}
	}
	if got := bucketsBetween(base, base.Add(-time.Hour)); strings.Count(got, "@") != 1 {
		t.Errorf("reversed range: %s", got)
	}
}
