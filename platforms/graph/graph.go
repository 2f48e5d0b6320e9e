// Package graph is a client for Meta's Graph APIs: how Facebook, Instagram and
// Threads are called, how they page and date lists, and what their error codes
// mean for another attempt.
//
// https://developers.facebook.com/docs/graph-api/overview
package graph

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// FinishesWithin is network.Limits.FinishesWithin of containers: Threads was observed to
// work on a publishing call for more than 200 seconds.
const FinishesWithin = 5 * time.Minute

// Options configures an API. The zero value works.
type Options struct {
	CreateTimeout time.Duration // timeout of calls that must not happen twice; 0: 4 min
	ReadTimeout   time.Duration // timeout of calls that can be repeated; 0: 30 s
	// Refine corrects the class of a refusal for codes that only one network
	// uses; nil: none.
	Refine func(f ErrorObject, create bool, e *network.Error)
}

// API is a client of one network's Graph API.
type API struct {
	calls   *call.Caller
	options Options
}

// New returns an API client. The HTTP client should refuse private addresses
// (call.NewClient).
func New(client *http.Client, options Options) *API {
	return &API{calls: call.New(client), options: options}
}

// Call is a request to a Graph API.
type Call struct {
	Method string
	URL    string      // host, version and path
	Query  url.Values  // added to URL
	Form   url.Values  // the body as a form; nil: Body is used
	Body   *call.Body  // nil: none
	Header http.Header // additional headers

	// Token is sent in the Authorization header, so that it is not part of the
	// URL.
	Token secret.Text
	// TokenParameter sends the token as the parameter access_token instead: in
	// the form, or in the URL of calls without a form.
	TokenParameter bool
	// Scheme is the scheme of the Authorization header; empty: Bearer. Uploads
	// (rupload.facebook.com) need OAuth.
	Scheme string
	// AppSecret, if set, proves with every call that the token is used by the app
	// that it was issued to (appsecret_proof).
	// https://developers.facebook.com/docs/graph-api/guides/secure-requests
	AppSecret secret.Text

	Create  bool          // must not happen twice; see call.Request
	Timeout time.Duration // 0: the timeout of Options
	Secrets []secret.Text // redacted from errors, in addition to Token and AppSecret
}

// Do makes the call once, and returns every refusal as a *network.Error.
func (a *API) Do(ctx context.Context, c Call) (*call.Response, error) {
	request := call.Request{
		Method: c.Method, Token: c.Token, Body: c.Body, Header: http.Header{}, Create: c.Create, Timeout: c.Timeout,
		Secrets: append([]secret.Text{c.Token, c.AppSecret}, c.Secrets...),
	}
	maps.Copy(request.Header, c.Header)
	if c.Scheme != "" && !c.Token.Empty() {
		request.Token = secret.Text{}
		request.Header.Set("Authorization", c.Scheme+" "+c.Token.Reveal())
	}
	query, form := cloneValues(c.Query), cloneValues(c.Form)
	parameters := query
	if c.Form != nil {
		parameters = form
	}
	if c.TokenParameter && !c.Token.Empty() {
		request.Token = secret.Text{}
		parameters.Set("access_token", c.Token.Reveal())
	}
	if !c.AppSecret.Empty() && !c.Token.Empty() {
		proof := AppSecretProof(c.Token, c.AppSecret)
		request.Secrets = append(request.Secrets, secret.NewText(proof))
		parameters.Set("appsecret_proof", proof)
	}
	if c.Form != nil {
		request.Body = call.Form(form)
	}
	request.URL = c.URL
	if len(query) > 0 {
		request.URL += "?" + query.Encode()
	}
	if request.Timeout == 0 {
		request.Timeout = a.options.ReadTimeout
		if c.Create {
			request.Timeout = a.options.CreateTimeout
		}
	}
	res, err := a.calls.Do(ctx, request)
	if err != nil {
		return nil, err
	}
	if id := res.Header.Get("X-Fb-Trace-Id"); id != "" {
		res.RequestID = id
	}
	if !res.OK() {
		return res, a.refusal(res, c.Create)
	}
	return res, nil
}

func cloneValues(values url.Values) url.Values {
	if values == nil {
		return url.Values{}
	}
	return maps.Clone(values)
}

// AppSecretProof returns the parameter appsecret_proof.
func AppSecretProof(token, appSecret secret.Text) string {
	sum := hmac.New(sha256.New, []byte(appSecret.Reveal()))
	_, _ = sum.Write([]byte(token.Reveal())) // never fails
	return hex.EncodeToString(sum.Sum(nil))
}

// CreatedID returns the id of the object that a call created.
func CreatedID(res *call.Response) (string, error) {
	var body struct {
		ID string `json:"id"`
	}
	if err := res.Decode(&body); err != nil {
		return "", err
	}
	if body.ID == "" {
		return "", res.MalformedError("it contains no id")
	}
	return body.ID, nil
}

// Page is one page of a list.
// https://developers.facebook.com/docs/graph-api/results
type Page[T any] struct {
	Data   []T `json:"data"`
	Paging struct {
		Cursors struct {
			NextCursor string `json:"after"`
		} `json:"cursors"`
		Next string `json:"next"`
	} `json:"paging"`
}

// NextCursor returns the cursor of the next page; empty on the last page. The
// address of the next page is not used, because it contains the token.
func (p Page[T]) NextCursor() string {
	if p.Paging.Next == "" {
		return ""
	}
	return p.Paging.Cursors.NextCursor
}

// Time is a time in the format of the Graph APIs: 2026-11-21T20:06:30+0000, which
// differs from RFC 3339.
type Time struct{ time.Time }

// UnmarshalJSON accepts both formats. Anything else becomes the zero time, so
// that an invalid date does not lose the id next to it.
func (t *Time) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) != nil {
		return nil //nolint:nilerr // see above
	}
	for _, layout := range []string{"2006-01-02T15:04:05-0700", time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			t.Time = at.UTC()
			return nil
		}
	}
	return nil
}
