package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"path"
	"time"

	"dateline/internal/netguard"
	"dateline/internal/people"
	"dateline/internal/post"
)

const (
	maxRedirects  = 3
	fetchPatience = 5 * time.Minute
)

// Fetch takes a file from an address on the web. The client that makes the
// request looks at each address after name resolution, also of redirects.
func (s *Service) Fetch(ctx context.Context, who people.Principal, address, altText, idempotencyKey string) (Item, bool, error) {
	u, err := url.Parse(address)
	if problem := checkAddress(u, err); problem != nil {
		return Item{}, false, post.InvalidFields(*problem)
	}
	if s.Web == nil {
		return Item{}, false, errors.New("this process does not fetch from the web")
	}
	ctx, cancel := context.WithTimeout(ctx, fetchPatience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return Item{}, false, post.InvalidFields(post.Problem{Field: "url", Code: "invalid", Message: "That is no address."})
	}
	request.Header.Set("User-Agent", "Dateline")
	request.Header.Set("Accept", "image/*, video/*")
	request.Header.Set("Accept-Encoding", "identity") // nothing grows on the way
	response, err := s.follower().Do(request)
	if err != nil {
		return Item{}, false, unfetched(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return Item{}, false, fetchFailed("refused", fmt.Sprintf("The server answers %d.", response.StatusCode))
	}
	if response.ContentLength > 0 {
		if err := s.checkSize(response.ContentLength); err != nil {
			return Item{}, false, err
		}
	}
	return s.Take(ctx, who, Incoming{FileName: nameOf(response), AltText: altText, Body: fetched{response.Body}, IdempotencyKey: idempotencyKey})
}

// follower is the client, with redirects as they are allowed here.
func (s *Service) follower() *http.Client {
	client := *s.Web
	client.Timeout = 0 // the context has one
	client.Jar = nil
	client.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return fetchFailed("redirects", fmt.Sprintf("The address redirects more than %d times.", maxRedirects))
		}
		if problem := checkAddress(r.URL, nil); problem != nil {
			return fetchFailed(problem.Code, "It redirects to where nothing is fetched from. "+problem.Message)
		}
		r.Header.Del("Referer") // the address may hold a secret
		return nil
	}
	return &client
}

func checkAddress(u *url.URL, err error) *post.Problem {
	switch {
	case err == nil && u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https":
		return &post.Problem{Field: "url", Code: "unsupported_scheme", Message: "Only http and https addresses are fetched."}
	case err != nil || u.Scheme == "" || u.Hostname() == "":
		return &post.Problem{Field: "url", Code: "invalid", Message: "That is no address. Write it like https://example.org/photo.jpg."}
	case u.User != nil:
		return &post.Problem{Field: "url", Code: "credentials", Message: "Leave user name and password out of the address."}
	}
	return nil
}

func fetchFailed(code, message string) *post.Error {
	return &post.Error{Kind: post.Invalid, Code: "fetch_failed", Message: "The file could not be fetched.",
		Problems: []post.Problem{{Field: "url", Code: code, Message: message}}}
}

// unfetched says why in words that tell neither the address, which may hold a
// secret, nor what a name resolved to, which may be of the operator's network.
func unfetched(err error) error {
	var known *post.Error
	var dns *net.DNSError
	switch {
	case errors.As(err, &known):
		return known
	case netguard.Prohibited(err):
		return fetchFailed("private_address", "The address is private or its port unusual; nothing is fetched from there.")
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return fetchFailed("timeout", "The server took too long.")
	case errors.As(err, &dns):
		return fetchFailed("unknown_host", "The name of the server cannot be resolved.")
	default:
		return fetchFailed("unreachable", "The server cannot be reached, or does not speak HTTP.")
	}
}

// fetched tells a download that breaks off from an upload that does.
type fetched struct{ io.Reader }

func (f fetched) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		return n, fetchFailed("incomplete", "The server did not send the whole file.")
	}
	return n, err
}

// nameOf takes the file's name from what the server says, else from where it
// lay.
func nameOf(r *http.Response) string {
	if _, params, err := mime.ParseMediaType(r.Header.Get("Content-Disposition")); err == nil && params["filename"] != "" {
		return params["filename"]
	}
	return path.Base(r.Request.URL.Path)
}
