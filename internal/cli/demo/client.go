package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"

	"github.com/google/uuid"
)

// object is a JSON object.
type object map[string]any

// client sends requests to the API of this process, without a connection.
type client struct {
	api   http.Handler
	token string
}

// response is a recorded response.
type response struct {
	status int
	header http.Header
	body   bytes.Buffer
}

func (r *response) Header() http.Header { return r.header }

func (r *response) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *response) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(p)
}

// local is where the API is reached by its own process.
const local = "http://localhost"

// serve lets the API serve a request from an address.
func (c *client) serve(
	ctx context.Context, method, path string, body io.Reader, from netip.Addr, header http.Header,
) (*response, error) {
	if body == nil {
		body = http.NoBody
	}
	r, err := http.NewRequestWithContext(ctx, method, local+path, body)
	if err != nil {
		return nil, err
	}
	r.RequestURI, r.RemoteAddr, r.Header = path, netip.AddrPortFrom(from, 1024).String(), header
	out := &response{header: http.Header{}}
	c.api.ServeHTTP(out, r)
	return out, ctx.Err()
}

func loopback() netip.Addr { return netip.AddrFrom4([4]byte{127, 0, 0, 1}) }

// send sends a request with the token of the demo. A nil in has no body.
func (c *client) send(ctx context.Context, method, path string, in, out any) error {
	header := http.Header{"Authorization": {"Bearer " + c.token}}
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(raw)
		header.Set("Content-Type", "application/json")
	}
	return c.sendAs(ctx, method, path, body, header, out)
}

func (c *client) sendAs(
	ctx context.Context, method, path string, body io.Reader, header http.Header, out any,
) error {
	r, err := c.serve(ctx, method, "/api/v1"+path, body, loopback(), header)
	switch {
	case err != nil:
		return err
	case r.status >= http.StatusBadRequest:
		return fmt.Errorf("%s %s: %d %s", method, path, r.status, strings.TrimSpace(r.body.String()))
	case out == nil || r.body.Len() == 0:
		return nil
	}
	return json.Unmarshal(r.body.Bytes(), out)
}

// create sends a POST request and returns the id of what it created.
func (c *client) create(ctx context.Context, path string, in any) (uuid.UUID, error) {
	var made struct{ ID uuid.UUID }
	err := c.send(ctx, http.MethodPost, path, in, &made)
	return made.ID, err
}

// item is what the demo reads of a listed resource.
type item struct {
	ID        uuid.UUID `json:"id"`
	Name      string    `json:"name"`
	Network   string    `json:"network"`
	Handle    string    `json:"handle"`
	Status    string    `json:"status"`
	URL       string    `json:"url"`
	ShortURL  string    `json:"short_url"`
	WriteKey  string    `json:"write_key"`
	CheckedAt *string   `json:"checked_at"`
}

// list lists the first page of a resource.
func (c *client) list(ctx context.Context, path, field string) ([]item, error) {
	var page map[string]json.RawMessage
	if err := c.send(ctx, http.MethodGet, path, nil, &page); err != nil {
		return nil, err
	}
	var items []item
	return items, json.Unmarshal(page[field], &items)
}

// isEmpty reports whether a list has nothing.
func (c *client) isEmpty(ctx context.Context, path, field string) (bool, error) {
	items, err := c.list(ctx, path, field)
	return len(items) == 0, err
}

func (c *client) deleteAll(ctx context.Context, path, field string) error {
	items, err := c.list(ctx, path, field)
	if err != nil {
		return err
	}
	for _, one := range items {
		if err := c.send(ctx, http.MethodDelete, path+"/"+one.ID.String(), nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// cancelPosts ends the workflows of posts that are not published.
func (c *client) cancelPosts(ctx context.Context) error {
	if err := c.send(ctx, http.MethodPost, "/dead-letters/discard", object{"all": true}, nil); err != nil {
		return err
	}
	for {
		posts, err := c.list(ctx, "/posts?status=scheduled&limit=100", "posts")
		if err != nil || len(posts) == 0 {
			return err
		}
		for _, p := range posts {
			if err := c.send(ctx, http.MethodDelete, "/posts/"+p.ID.String(), nil, nil); err != nil {
				return err
			}
		}
	}
}

func (c *client) endSeries(ctx context.Context) error {
	all, err := c.list(ctx, "/series?status=active", "series")
	if err != nil {
		return err
	}
	for _, one := range all {
		if err := c.send(ctx, http.MethodDelete, "/series/"+one.ID.String(), nil, nil); err != nil {
			return err
		}
	}
	return nil
}
