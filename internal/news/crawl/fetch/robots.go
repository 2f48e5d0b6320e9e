package fetch

import (
	"context"
	"net/http"

	"dateline/internal/news/crawl/robots"
)

// FetchRobots fetches the robots.txt of an origin. It is a
// robots.Source.
func (f *Fetcher) FetchRobots(ctx context.Context, origin string) (robots.Response, error) {
	r, err := f.Fetch(ctx, Request{URL: origin + "/robots.txt", Kind: KindRobots})
	if err != nil {
		return robots.Response{}, err
	}
	answer := robots.Response{RetryAfter: r.RetryAfter}
	switch r.Outcome {
	case OK:
		answer.Status, answer.Body = http.StatusOK, r.Text
	case Trap, WrongType, TooBig:
		// More redirects than five may be taken for "unavailable" (RFC 9309
		// §2.3.1.2). So may something that is no text.
		answer.Status = http.StatusNotFound
	case NotFound, ClientError, Throttled, ServerError:
		answer.Status = r.Status
	}
	return answer, nil
}
