// Package graph holds what the Graph APIs of Meta have in common: how Facebook,
// Instagram and Threads are called, how they list and date things, and what
// their error codes mean for the promise never to publish twice.
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

// Options of an API. The zero value works.
type Options struct {
	CreateTimeout time.Duration // for calls that must not happen twice; 0: 4 min
	ReadTimeout   time.Duration // for calls that may be repeated; 0: 30 s
	// Refine corrects the class of a refusal by what one network alone knows of
	// its codes; nil: nothing to correct.
	Refine func(f ErrorObject, create bool, e *network.Error)
}

// API calls one network's Graph API.
type API struct {
	calls   *call.Caller
	options Options
}

// New makes an API over a client, which should refuse private addresses
// (call.NewClient).
func New(client *http.Client, options Options) *API {
	return &API{calls: call.New(client), options: options}
}

// Call is one call.
type Call struct {
	Method string
	URL    string      // host, version and path
	Query  url.Values  // added to URL
	Form   url.Values  // the body, as a form; nil: Body
	Body   *call.Body  // nil: none
	Header http.Header // further headers

	// Token goes into the Authorization header, so that it is not in the address.
	Token secret.Text
	// TokenParameter sends the token as the parameter access_token instead: in the
	// form, and in the address of calls that have none.
	TokenParameter bool
	// Scheme of the Authorization header; empty: Bearer. Uploads
	// (rupload.facebook.com) want OAuth.
	Scheme string
	// AppSecret, where it is set, proves with every call that the token is used
	// by the app that it was made for (appsecret_proof).
	// https://developers.facebook.com/docs/graph-api/guides/secure-requests
	AppSecret secret.Text

	Create  bool          // must not happen twice; see call.Request
	Timeout time.Duration // 0: of Options
	Secrets []secret.Text // kept out of errors, besides Token and AppSecret
}

// Do makes the call once, and turns every refusal into a *network.Error.
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

// AppSecretProof is what Meta calls appsecret_proof.
func AppSecretProof(token, appSecret secret.Text) string {
	sum := hmac.New(sha256.New, []byte(appSecret.Reveal()))
	_, _ = sum.Write([]byte(token.Reveal())) // never fails
	return hex.EncodeToString(sum.Sum(nil))
}

// CreatedID reads the id of what a call has made.
func CreatedID(res *call.Response) (string, error) {
	var answer struct {
		ID string `json:"id"`
	}
	if err := res.Decode(&answer); err != nil {
		return "", err
	}
	if answer.ID == "" {
		return "", res.MalformedError("it has no id")
	}
	return answer.ID, nil
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

// NextCursor is the cursor of the next page; empty on the last. Only the cursor is
// taken from an answer: its addresses would have the token in them.
func (p Page[T]) NextCursor() string {
	if p.Paging.Next == "" {
		return ""
	}
	return p.Paging.Cursors.NextCursor
}

// Time is a time as the Graph APIs write it: 2026-11-21T20:06:30+0000, which is
// not quite RFC 3339.
type Time struct{ time.Time }

// UnmarshalJSON reads both forms. What is neither is a zero time: a date that
// cannot be read is no reason to lose the id beside it.
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
