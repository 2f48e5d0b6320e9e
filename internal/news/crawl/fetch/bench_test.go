package fetch

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"dateline/internal/testing/crawltest"
)

// BenchmarkFetch fetches articles of 21 kB, 32 at a time, from a synthetic web in the
// same process, and prints the ratio to a bare client's rate.
func BenchmarkFetch(b *testing.B) {
	w, err := crawltest.New(crawltest.Options{Sites: 32, Articles: 10, PageBytes: 21_000})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	articles := w.Articles()
	o := options()
	o.AllowPrivate, o.Resolver = w.AllowPrivate(), w.Resolver()
	f, err := New(o)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	address := w.AllowPrivate()[0]
	bare := &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: 32,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
	}}
	defer bare.CloseIdleConnections()
	plain := func(address string) error {
		res, err := bare.Get(address)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		_, err = io.ReadAll(res.Body)
		return err
	}
	whole := func(address string) error {
		r, err := f.Fetch(b.Context(), Request{URL: address})
		if err == nil && r.Outcome != OK {
			err = fmt.Errorf("%s: %s", r.Outcome, r.Reason)
		}
		return err
	}
	// Both fetch the same number of pages in turns, so that other load affects both.
	const turn, atOnce = 640, 32
	var times [2]time.Duration
	b.ResetTimer()
	b.ReportAllocs()
	for range b.N {
		for i, get := range []func(string) error{plain, whole} {
			start := time.Now()
			var all sync.WaitGroup
			for worker := range atOnce {
				all.Go(func() {
					for n := range turn / atOnce {
						if err := get(articles[(worker*turn+n)%len(articles)].URL); err != nil {
							b.Error(err)
						}
					}
				})
			}
			all.Wait()
			times[i] += time.Since(start)
		}
	}
	b.ReportMetric(float64(times[0])/float64(times[1]), "of-bare")
	b.ReportMetric(float64(turn*b.N)/times[1].Seconds(), "pages/s")
}
