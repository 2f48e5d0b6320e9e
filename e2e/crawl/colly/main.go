// Command colly crawls a synthetic web with bare Colly: asynchronous, 32 concurrent
// requests, the links of every page parsed. With -s3 it stores the pages, otherwise
// nothing. The crawler's throughput is compared with it.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gocolly/colly/v2"
)

func main() {
	server := flag.String("server", "", "host:port that has all sites")
	parallel := flag.Int("parallel", 32, "requests at once")
	follow := flag.String("follow", "",
		"regular expression of the links that are followed, of those that stay on their site")
	endpoint := flag.String("s3", "",
		"URL of an S3 server to store pages on, with the keys test and test; empty: nothing is stored")
	bucket := flag.String("bucket", "dateline-test", "bucket on that server")
	flag.Parse()
	var pages *store
	if *endpoint != "" {
		var err error
		if pages, err = newStore(*endpoint, *bucket, "test", "test"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if err := run(*server, *parallel, *follow, pages, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(server string, parallel int, follow string, to *store, starts []string) error {
	wanted, err := regexp.Compile(follow)
	if err != nil {
		return err
	}
	c := colly.NewCollector(colly.Async(true), colly.UserAgent("colly-bench"))
	if err := c.Limit(&colly.LimitRule{DomainGlob: "*", Parallelism: parallel}); err != nil {
		return err
	}
	var dialer net.Dialer
	c.WithTransport(&http.Transport{
		MaxIdleConnsPerHost: parallel,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, server)
		},
	})
	var pages atomic.Int64
	var failed atomic.Pointer[error]
	c.OnResponse(func(r *colly.Response) {
		pages.Add(1)
		if to == nil {
			return
		}
		if err := to.put(context.Background(), r.Body); err != nil {
			failed.Store(&err)
		}
	})
	c.OnHTML("a[href]", func(e *colly.HTMLElement) {
		to := e.Request.AbsoluteURL(e.Attr("href"))
		if strings.HasPrefix(to, e.Request.URL.Scheme+"://"+e.Request.URL.Host+"/") && wanted.MatchString(to) {
			_ = e.Request.Visit(to) // fails if already visited
		}
	})
	begun := time.Now()
	for _, start := range starts {
		if err := c.Visit(start); err != nil {
			return err
		}
	}
	c.Wait()
	took := time.Since(begun)
	if err := failed.Load(); err != nil {
		return *err
	}
	fmt.Printf("{\"pages\": %d, \"seconds\": %.3f}\n", pages.Load(), took.Seconds())
	return nil
}
