package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// blueskyRecord is a stored record.
type blueskyRecord struct {
	CID   string          `json:"cid"`
	Value json.RawMessage `json:"value"`
}

type blueskyRef struct{ URI, CID string }

type blueskyBlob struct {
	Type string `json:"$type"`
	Ref  struct {
		Link string `json:"$link"`
	} `json:"ref"`
	MIMEType string `json:"mimeType"`
	Size     int64  `json:"size"`
}

// blueskyPost is a record of the lexicon app.bsky.feed.post. Required fields are
// pointers, so that missing ones are detected.
type blueskyPost struct {
	Type      string  `json:"$type"`
	Text      *string `json:"text"`
	CreatedAt string  `json:"createdAt"`
	Langs     []string
	Facets    []struct {
		Index *struct {
			ByteStart, ByteEnd *int
		}
		Features []struct {
			Type          string `json:"$type"`
			URI, DID, Tag string
		}
	}
	Reply  *struct{ Root, Parent blueskyRef }
	Labels *struct {
		Type   string `json:"$type"`
		Values []struct{ Val string }
	}
	Embed *blueskyEmbed
}

type blueskyEmbed struct {
	Type   string `json:"$type"`
	Images []struct {
		Image *blueskyBlob
		Alt   *string
	}
	Items []struct {
		Type        string `json:"$type"`
		Image       *blueskyBlob
		Alt         *string
		AspectRatio *struct{ Width, Height int }
	}
	Video    *blueskyBlob
	Alt      string
	External *struct {
		URI, Title, Description *string
		Thumb                   *blueskyBlob
	}
	Record json.RawMessage // a quoted post
	Media  *blueskyEmbed   // beside a quoted post
}

// attached is what a record shows besides a quoted post.
func (p blueskyPost) attached() *blueskyEmbed {
	if p.Embed != nil && p.Embed.Type == "app.bsky.embed.recordWithMedia" {
		return p.Embed.Media
	}
	return p.Embed
}

// blobs returns the uploads that a record refers to, with their descriptions.
func (p blueskyPost) blobs() (blobs []blueskyBlob, alts []string, thumb *blueskyBlob) {
	embed := p.attached()
	if embed == nil {
		return nil, nil, nil
	}
	for _, image := range embed.Images {
		blobs, alts = append(blobs, *image.Image), append(alts, *image.Alt)
	}
	for _, item := range embed.Items {
		blobs, alts = append(blobs, *item.Image), append(alts, *item.Alt)
	}
	if embed.Video != nil {
		blobs, alts = append(blobs, *embed.Video), append(alts, embed.Alt)
	}
	if embed.External != nil {
		thumb = embed.External.Thumb
	}
	return blobs, alts, thumb
}

// problem returns what violates the lexicon, with the messages of
// packages/lexicon.
func (p blueskyPost) problem() string {
	switch {
	case p.Text == nil:
		return `Record must have the property "text"`
	case len(*p.Text) > 3000:
		return "Record/text must not be longer than 3000 characters"
	case uniseg.GraphemeClusterCount(*p.Text) > 300:
		return "Record/text must not be longer than 300 graphemes"
	case !utf8.ValidString(*p.Text):
		return "Record/text must be a string"
	case len(p.Langs) > 3:
		return "Record/langs must not have more than 3 elements"
	case p.Reply != nil && (p.Reply.Root.CID == "" || p.Reply.Parent.CID == "" ||
		!strings.HasPrefix(p.Reply.Root.URI, "at://") || !strings.HasPrefix(p.Reply.Parent.URI, "at://")):
		return "Record/reply/parent must be a strong reference"
	}
	if _, err := time.Parse(time.RFC3339Nano, p.CreatedAt); err != nil {
		return "Record/createdAt must be an valid atproto datetime (both RFC-3339 and ISO-8601)"
	}
	for i, f := range p.Facets {
		if f.Index == nil || f.Index.ByteStart == nil || f.Index.ByteEnd == nil || f.Features == nil {
			return fmt.Sprintf("Record/facets/%d must have the property \"index\"", i)
		}
		for _, x := range f.Features {
			if strings.HasSuffix(x.Type, "#link") && !strings.Contains(x.URI, ":") ||
				strings.HasSuffix(x.Type, "#mention") && !strings.HasPrefix(x.DID, "did:") ||
				strings.HasSuffix(x.Type, "#tag") && (len(x.Tag) > 640 || uniseg.GraphemeClusterCount(x.Tag) > 64) {
				return fmt.Sprintf("Record/facets/%d/features is not valid", i)
			}
		}
	}
	return p.embedProblem()
}

func (p blueskyPost) embedProblem() string {
	if p.Labels != nil && p.Labels.Type != "com.atproto.label.defs#selfLabels" {
		return "Record/labels must have the property \"$type\""
	}
	if p.Embed != nil && strings.HasPrefix(p.Embed.Type, "app.bsky.embed.record") {
		if quoted := p.quoted(); quoted.CID == "" || !strings.HasPrefix(quoted.URI, "at://") {
			return "Record/embed/record must be a strong reference"
		}
	}
	e := p.attached()
	if e == nil {
		return ""
	}
	for i, image := range e.Images {
		switch {
		case image.Image == nil || image.Alt == nil:
			return fmt.Sprintf("Record/embed/images/%d must have the property \"alt\"", i)
		case image.Image.Size > 2_000_000:
			return fmt.Sprintf("This file is too large. It is %d bytes but the maximum size is 2000000 bytes.",
				image.Image.Size)
		case !strings.HasPrefix(image.Image.MIMEType, "image/"):
			return "Wrong type of file. It is " + image.Image.MIMEType + " but it must match image/*."
		}
	}
	for i, item := range e.Items {
		switch {
		case item.Type != "app.bsky.embed.gallery#image":
			return fmt.Sprintf("Record/embed/items/%d must have the property \"$type\"", i)
		case item.Image == nil || item.Alt == nil || item.AspectRatio == nil || item.AspectRatio.Width < 1 ||
			item.AspectRatio.Height < 1:
			return fmt.Sprintf("Record/embed/items/%d must have the property \"aspectRatio\"", i)
		case item.Image.Size > 2_000_000:
			return fmt.Sprintf("This file is too large. It is %d bytes but the maximum size is 2000000 bytes.",
				item.Image.Size)
		}
	}
	switch {
	case len(e.Items) > 20:
		return "Record/embed/items must not have more than 20 elements"
	case e.Type == "app.bsky.embed.gallery" && len(e.Items) == 0:
		return "Record/embed lacks a property"
	case len(e.Images) > 4:
		return "Record/embed/images must not have more than 4 elements"
	case e.Type == "app.bsky.embed.images" && e.Images == nil, e.Type == "app.bsky.embed.video" && e.Video == nil,
		e.Type == "app.bsky.embed.external" && e.External == nil:
		return "Record/embed lacks a property"
	case e.Video != nil && e.Video.MIMEType != "video/mp4":
		return "Wrong type of file. It is " + e.Video.MIMEType + " but it must match video/mp4."
	case e.External != nil && (e.External.URI == nil || e.External.Title == nil || e.External.Description == nil):
		return `Record/embed/external must have the property "title"`
	}
	return ""
}

func (s blueskyFake) blueskyCreate(w http.ResponseWriter, r *http.Request, c caller) {
	var in struct {
		Repo, Collection, Rkey string
		Record                 json.RawMessage
	}
	if !readXRPC(w, r, &in) {
		return
	}
	if cid, ok := s.blueskyStorePost(w, r, c, in.Repo, in.Collection, in.Rkey, in.Record, nil); ok {
		writeJSON(w, http.StatusOK, map[string]any{
			"uri": blueskyURI(c.account, in.Rkey), "cid": cid, "validationStatus": "valid",
			"commit": map[string]string{"cid": versionOf([]byte(cid)), "rev": in.Rkey},
		})
	}
}

// blueskyStorePost stores a post with its gates, or writes a refusal.
func (s blueskyFake) blueskyStorePost(w http.ResponseWriter, r *http.Request, c caller, repo, collection, rkey string,
	record json.RawMessage, gates map[string]any,
) (cid string, ok bool) {
	received := s.now()
	var p blueskyPost
	if err := json.Unmarshal(record, &p); err != nil {
		xrpcError(w, http.StatusBadRequest, "InvalidRequest", "Input/record must be an object")
		return "", false
	}
	if name, problem := blueskyRefusal(c, repo, collection, rkey, p); problem != "" {
		status := http.StatusBadRequest
		if name == "AuthenticationRequired" {
			status = http.StatusUnauthorized
		}
		xrpcError(w, status, name, problem)
		return "", false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	uri := blueskyURI(c.account, rkey)
	post := Post{
		ID: uri, Network: blueskyName, AccountID: c.account.ID, Account: c.account.Name, Text: *p.Text,
		Visibility: "public",
		URL:        base(r) + "/bluesky/profile/" + blueskyHandle(c.account) + "/post/" + rkey, ReceivedAt: received,
		Options: p.options(),
	}
	post.CreatedAt, _ = time.Parse(time.RFC3339Nano, p.CreatedAt) // checked above
	if len(p.Langs) > 0 {
		post.Language = p.Langs[0]
	}
	if p.Reply != nil {
		post.ReplyTo = p.Reply.Parent.URI // the server does not check that it exists
	}
	blobs, alts, thumb := p.blobs()
	if thumb != nil && s.blueskyBlobOf(c.account, thumb.Ref.Link) == nil {
		blobs = append(blobs, *thumb) // refused below
	}
	for i, b := range blobs {
		m := s.blueskyBlobOf(c.account, b.Ref.Link)
		if m == nil {
			xrpcError(w, http.StatusBadRequest, "BlobNotFound", "Could not find blob: "+b.Ref.Link)
			return "", false
		}
		attached := *m
		attached.Description = alts[i]
		post.Media = append(post.Media, attached)
	}
	if before := s.state.postByID[uri]; before != nil && !before.Deleted {
		// repo.processWrites fails on the key, and the error is not handled.
		xrpcError(w, http.StatusInternalServerError, "InternalServerError", "Internal Server Error")
		return "", false
	}
	for name, rules := range gates {
		post.Options[name] = rules
	}
	record = blueskyAlter(record, conditionsOf(r).alter)
	cid = versionOf(record)
	err := s.putObject(Object{
		ID: uri, Network: blueskyName, Kind: "record", AccountID: c.account.ID,
		CreatedAt: s.now(),
	}, blueskyRecord{CID: cid, Value: record})
	if err == nil {
		err = s.storePost(r, &post)
	}
	if err != nil {
		xrpcError(w, http.StatusInternalServerError, "InternalServerError", err.Error())
		return "", false
	}
	return cid, true
}

// blueskyAlter changes parts of a record as the fault Alter says.
func blueskyAlter(record json.RawMessage, parts []string) json.RawMessage {
	if len(parts) == 0 {
		return record
	}
	var fields map[string]any
	if json.Unmarshal(record, &fields) != nil {
		return record
	}
	for _, part := range parts {
		switch part {
		case PartText:
			runes := []rune(fields["text"].(string))
			fields["text"] = string(runes[:len(runes)/2])
		case PartMedia:
			delete(fields, "embed")
		case PartReply:
			delete(fields, "reply")
		case PartWarning:
			delete(fields, "labels")
		case PartLanguage:
			fields["langs"] = []string{"en"}
		}
	}
	altered, err := json.Marshal(fields)
	if err != nil {
		return record
	}
	return altered
}

// blueskyRefusal returns why a record cannot be created; empty: it can.
func blueskyRefusal(c caller, repo, collection, key string, p blueskyPost) (name, problem string) {
	const alphabet = "234567abcdefghijklmnopqrstuvwxyz"
	switch {
	case repo != blueskyDID(c.account) && !strings.EqualFold(repo, blueskyHandle(c.account)):
		return "AuthenticationRequired", "Authentication Required"
	case collection != blueskyCollection:
		return "InvalidRequest", "Lexicon not found: lex:" + collection
	case p.Type != collection:
		return "InvalidRequest", "Invalid $type: expected " + collection + ", got " + p.Type
	case len(key) != 13 || strings.Trim(key, alphabet) != "" || key[0] > 'j':
		return "InvalidRequest", "Invalid record key for " + collection + ": must be a TID"
	}
	if problem := p.problem(); problem != "" {
		return "InvalidRequest", "Invalid " + collection + " record: " + problem
	}
	return "", ""
}

func (s blueskyFake) blueskyRead(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.blueskyAccount(query.Get("repo"))
	if a == nil {
		xrpcError(w, http.StatusBadRequest, "InvalidRequest", "Could not find repo: "+query.Get("repo"))
		return
	}
	uri := "at://" + blueskyDID(*a) + "/" + query.Get("collection") + "/" + query.Get("rkey")
	if query.Get("collection") == "app.bsky.actor.profile" && query.Get("rkey") == "self" {
		name := strings.ToUpper(a.Name[:1]) + a.Name[1:]
		writeJSON(w, http.StatusOK, map[string]any{
			"uri": uri, "cid": versionOf([]byte(name)),
			"value": map[string]any{
				"$type": "app.bsky.actor.profile", "displayName": name,
				"avatar": map[string]any{
					"$type": "blob", "ref": map[string]string{"$link": blueskyAvatarCID}, "mimeType": "image/png",
				},
			},
		})
		return
	}
	var stored blueskyRecord
	_, known := s.object(blueskyName, "record", uri, &stored)
	if p := s.state.postByID[uri]; !known || p == nil || !s.isListed(p) {
		xrpcError(w, http.StatusBadRequest, "RecordNotFound", "Could not locate record: "+uri)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"uri": uri, "cid": stored.CID, "value": stored.Value})
}

// blueskyDelete deletes a record. Deleting a missing record is not an error.
func (s blueskyFake) blueskyDelete(w http.ResponseWriter, r *http.Request, c caller) {
	var in struct{ Repo, Collection, Rkey string }
	if !readXRPC(w, r, &in) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.blueskyAccount(in.Repo) == nil || s.blueskyAccount(in.Repo).ID != c.account.ID {
		xrpcError(w, http.StatusUnauthorized, "AuthenticationRequired", "Authentication Required")
		return
	}
	uri := "at://" + blueskyDID(c.account) + "/" + in.Collection + "/" + in.Rkey
	if p := s.state.postByID[uri]; p == nil || p.Deleted {
		writeJSON(w, http.StatusOK, map[string]any{})
		return
	}
	if err := s.commit(record{Kind: kindDelete, ID: uri}); err != nil {
		xrpcError(w, http.StatusInternalServerError, "InternalServerError", err.Error())
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"commit": map[string]string{"cid": versionOf([]byte("deleted " + uri)), "rev": in.Rkey},
	})
}

// blueskyAvatarCID is the content identifier of every account's picture.
const blueskyAvatarCID = "bafkreiavatar"

// blueskyAvatar serves the picture that a profile names.
func (s blueskyFake) blueskyAvatar(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	id := ""
	if a := s.blueskyAccount(r.URL.Query().Get("did")); a != nil {
		id = a.ID
	}
	s.mu.Unlock()
	if id == "" || r.URL.Query().Get("cid") != blueskyAvatarCID {
		xrpcError(w, http.StatusBadRequest, "BlobNotFound", "Blob not found")
		return
	}
	r.SetPathValue("id", id)
	s.showAvatar(w, r)
}
