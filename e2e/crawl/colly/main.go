// Command colly crawls a synthetic web with bare Colly: asynchronous, 32 concurrent
// requests, the links of every page parsed, nothing stored. The crawler's throughput is
// compared with it.
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
	follow := flag.String("follow", "", "regular expression of the links that are followed, of those that stay on their site")
	flag.Parse()
	if err := run(*server, *parallel, *follow, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(server string, parallel int, follow string, starts []string) error {
	wanted, err := regexp.Compile(follow)
	if err != nil {
		return err
	}
	c := colly.NewCollector(colly.Async(true), colly.UserAgent("colly-bench"))
	if err := c.Limit(&colly.LimitRule{DomainGlob: "*", Parallelism: parallel}); err != nil {
		return err
	}
	var dialer net.Dialer
	c.WithTransport(&http.Transport{MaxIdleConnsPerHost: parallel, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, server)
	}})
	var pages atomic.Int64
	c.OnResponse(func(*colly.Response) { pages.Add(1) })
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
	fmt.Printf("{\"pages\": %d, \"seconds\": %.3f}\n", pages.Load(), took.Seconds())
	return nil
}
