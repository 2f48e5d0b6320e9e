package bluesky

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// recordAt is the address of a record: repository, collection and key.
// https://atproto.com/specs/at-uri-scheme
type recordAt struct{ repo, collection, key string }

func (r recordAt) String() string { return "at://" + r.repo + "/" + r.collection + "/" + r.key }

// parseRecordAt parses the at:// address of a record.
func parseRecordAt(uri string) (recordAt, bool) {
	rest, ok := strings.CutPrefix(uri, "at://")
	parts := strings.Split(rest, "/")
	if !ok || len(parts) != 3 || slices.Contains(parts, "") || strings.ContainsAny(rest, "?#% ") {
		return recordAt{}, false
	}
	return recordAt{parts[0], parts[1], parts[2]}, true
}

// ref is a strong reference to one version of a record.
type ref struct {
	URI string `json:"uri"`
	CID string `json:"cid"`
}

// post contains the used fields of a post record.
type post struct {
	Type      string      `json:"$type"`
	Text      string      `json:"text"`
	CreatedAt string      `json:"createdAt"`
	Langs     []string    `json:"langs,omitempty"`
	Facets    []facet     `json:"facets,omitempty"`
	Embed     any         `json:"embed,omitempty"`
	Reply     *reply      `json:"reply,omitempty"`
	Labels    *selfLabels `json:"labels,omitempty"`
}

func (p post) created() time.Time {
	at, err := time.Parse(time.RFC3339Nano, p.CreatedAt)
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}

// reply refers to the post that a post replies to, and to the first post of the
// thread.
type reply struct {
	Root   ref `json:"root"`
	Parent ref `json:"parent"`
}

// facet marks a clickable part, in bytes of the text's UTF-8.
type facet struct {
	Index    byteSlice `json:"index"`
	Features []feature `json:"features"`
}

type byteSlice struct {
	Start int `json:"byteStart"`
	End   int `json:"byteEnd"`
}

type feature struct {
	Type string `json:"$type"`
	URI  string `json:"uri,omitempty"`
	DID  string `json:"did,omitempty"`
	Tag  string `json:"tag,omitempty"`
}

// facets returns the facets of a text. mentions contains the DID of each handle;
// handles without one stay plain text.
func facets(text string, mentions map[string]string) []facet {
	var created []facet
	for _, e := range entities(text) {
		f := feature{Type: "app.bsky.richtext.facet#" + string(e.kind)}
		switch e.kind {
		case network.SpanLink:
			f.URI = e.target
		case network.SpanTag:
			f.Tag = e.target
		case network.SpanMention:
			if f.DID = mentions[strings.ToLower(e.target)]; f.DID == "" {
				continue
			}
		}
		created = append(created, facet{Index: byteSlice{e.start, e.end}, Features: []feature{f}})
	}
	return created
}

// getRecord reads a record into value (com.atproto.repo.getRecord). Records are
// public: the call needs no token, so an expired one does not matter.
func (b *Bluesky) getRecord(
	ctx context.Context, account network.Account, at recordAt, timeout time.Duration, value any,
) (ref, error) {
	res, err := b.do(ctx, account.BaseURL, "com.atproto.repo.getRecord",
		url.Values{"repo": {at.repo}, "collection": {at.collection}, "rkey": {at.key}}, call.Request{Timeout: timeout})
	if err != nil {
		return ref{}, err
	}
	var body struct {
		ref
		Value json.RawMessage `json:"value"`
	}
	if err := res.Decode(&body); err != nil {
		return ref{}, err
	}
	if body.URI == "" || len(body.Value) == 0 {
		return ref{}, res.MalformedError("it contains no record")
	}
	if err := json.Unmarshal(body.Value, value); err != nil {
		return ref{}, res.MalformedError("the record has an unknown format")
	}
	return body.ref, nil
}

// isNotFound reports whether a server reported that a record does not exist.
func isNotFound(err error) bool {
	e := network.AsError(err)
	return e != nil && e.Code == "RecordNotFound"
}
