package bluesky

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// recordAt is where a record stands: whose it is, in which collection, under
// which key. https://atproto.com/specs/at-uri-scheme
type recordAt struct{ repo, collection, key string }

func (r recordAt) String() string { return "at://" + r.repo + "/" + r.collection + "/" + r.key }

// parseRecordAt reads an at:// address of a record.
func parseRecordAt(uri string) (recordAt, bool) {
	rest, ok := strings.CutPrefix(uri, "at://")
	parts := strings.Split(rest, "/")
	if !ok || len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" || strings.ContainsAny(rest, "?#% ") {
		return recordAt{}, false
	}
	return recordAt{parts[0], parts[1], parts[2]}, true
}

// ref names one version of a record.
type ref struct {
	URI string `json:"uri"`
	CID string `json:"cid"`
}

// post is a record of the collection, with the fields that are used.
type post struct {
	Type      string   `json:"$type"`
	Text      string   `json:"text"`
	CreatedAt string   `json:"createdAt"`
	Langs     []string `json:"langs,omitempty"`
	Facets    []facet  `json:"facets,omitempty"`
	Embed     any      `json:"embed,omitempty"`
	Reply     *reply   `json:"reply,omitempty"`
}

func (p post) created() time.Time {
	at, err := time.Parse(time.RFC3339Nano, p.CreatedAt)
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}

// reply says what a post answers, and which post began the thread.
type reply struct {
	Root   ref `json:"root"`
	Parent ref `json:"parent"`
}

// facet marks what can be clicked, in bytes of the text's UTF-8.
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

// facets makes those of a text. mentions gives the identity behind each name;
// names without one stay plain text.
func facets(text string, mentions map[string]string) []facet {
	var made []facet
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
		made = append(made, facet{Index: byteSlice{e.start, e.end}, Features: []feature{f}})
	}
	return made
}

// getRecord reads a record into value (com.atproto.repo.getRecord). Records are
// public: the call needs no token, and none that has ended is in its way.
func (b *Bluesky) getRecord(ctx context.Context, account network.Account, at recordAt, timeout time.Duration, value any) (ref, error) {
	res, err := b.do(ctx, account.BaseURL, "com.atproto.repo.getRecord",
		url.Values{"repo": {at.repo}, "collection": {at.collection}, "rkey": {at.key}}, call.Request{Timeout: timeout})
	if err != nil {
		return ref{}, err
	}
	var answer struct {
		ref
		Value json.RawMessage `json:"value"`
	}
	if err := res.Decode(&answer); err != nil {
		return ref{}, err
	}
	if answer.URI == "" || len(answer.Value) == 0 {
		return ref{}, res.MalformedError("it has no record")
	}
	if err := json.Unmarshal(answer.Value, value); err != nil {
		return ref{}, res.MalformedError("the record is none that Dateline knows")
	}
	return answer.ref, nil
}

// isNotFound reports that a server knows a record not to be there.
func isNotFound(err error) bool {
	e := network.AsError(err)
	return e != nil && e.Code == "RecordNotFound"
}
