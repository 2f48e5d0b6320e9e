package fetch

import (
	"context"
	"net/http"

	"dateline/internal/news/crawl/robots"
)

// Robots fetches the robots.txt of an origin, for a robots.Cache. It is a
// robots.Source.
func (f *Fetcher) Robots(ctx context.Context, origin string) (robots.Answer, error) {
	r, err := f.Fetch(ctx, Request{URL: origin + "/robots.txt", Kind: Robots})
	if err != nil {
		return robots.Answer{}, err
	}
	answer := robots.Answer{RetryAfter: r.RetryAfter}
	switch r.Outcome {
	case OK:
		answer.Status, answer.Body = http.StatusOK, r.Text
	case Trap, WrongType, TooBig:
		// More redirects than five may be taken for "unavailable" (RFC 9309
		// §2.3.1.2). So may something that is no text.
		answer.Status = http.StatusNotFound
	case Gone, Refused, Throttled, ServerError:
		answer.Status = r.Status
	}
	return answer, nil
}
