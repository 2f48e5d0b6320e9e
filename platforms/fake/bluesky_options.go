package fake

import (
	"encoding/json"
	"net/http"
	"strings"
)

// options are those of a record that the fake shows.
func (p blueskyPost) options() map[string]any {
	options := map[string]any{}
	if len(p.Langs) > 0 {
		options["langs"] = p.Langs
	}
	if p.Labels != nil {
		labels := []string{}
		for _, one := range p.Labels.Values {
			labels = append(labels, one.Val)
		}
		options["labels"] = labels
	}
	if quoted := p.quoted(); quoted.URI != "" {
		options["quote"] = quoted.URI
	}
	return options
}

// quoted is the post that a record embeds.
func (p blueskyPost) quoted() blueskyRef {
	if p.Embed == nil {
		return blueskyRef{}
	}
	var embedded struct {
		blueskyRef
		Record blueskyRef
	}
	_ = json.Unmarshal(p.Embed.Record, &embedded) // absent without a quote
	if p.Embed.Type == "app.bsky.embed.recordWithMedia" {
		return embedded.Record
	}
	return embedded.blueskyRef
}

// blueskyApply creates a post together with its gates, in one commit.
// https://docs.bsky.app/docs/api/com-atproto-repo-apply-writes
func (s blueskyFake) blueskyApply(w http.ResponseWriter, r *http.Request, c caller) {
	var in struct {
		Repo   string
		Writes []struct {
			Type       string `json:"$type"`
			Collection string
			Rkey       string
			Value      json.RawMessage
		}
	}
	if !readXRPC(w, r, &in) {
		return
	}
	refuse := func(problem string) { xrpcError(w, http.StatusBadRequest, "InvalidRequest", problem) }
	if len(in.Writes) == 0 || in.Writes[0].Collection != blueskyCollection {
		refuse("Input/writes must begin with a post")
		return
	}
	root := in.Writes[0]
	uri := blueskyURI(c.account, root.Rkey)
	gates := map[string]any{}
	for _, one := range in.Writes {
		if one.Type != "com.atproto.repo.applyWrites#create" {
			refuse("Action not supported: " + one.Type)
			return
		}
		if one.Collection == blueskyCollection {
			continue
		}
		var restriction struct {
			Type           string `json:"$type"`
			Post           string
			Allow          []map[string]string
			EmbeddingRules []map[string]string
		}
		switch {
		case json.Unmarshal(one.Value, &restriction) != nil || restriction.Type != one.Collection:
			refuse("Invalid " + one.Collection + " record")
			return
		case one.Rkey != root.Rkey || restriction.Post != uri:
			refuse("A gate must have the record key of its post")
			return
		case len(restriction.Allow) > 5 || len(restriction.EmbeddingRules) > 5:
			refuse("Invalid " + one.Collection + " record: Record/allow must not have more than 5 elements")
			return
		}
		switch name := strings.TrimPrefix(one.Collection, "app.bsky.feed."); name {
		case "threadgate":
			gates[name] = restriction.Allow
		case "postgate":
			gates[name] = restriction.EmbeddingRules
		default:
			refuse("Lexicon not found: lex:" + one.Collection)
			return
		}
	}
	cid, ok := s.blueskyStorePost(w, r, c, in.Repo, root.Collection, root.Rkey, root.Value, gates)
	if !ok {
		return
	}
	results := []map[string]string{}
	for _, one := range in.Writes {
		version := cid
		if one.Collection != blueskyCollection {
			version = versionOf(one.Value)
		}
		results = append(results, map[string]string{
			"$type": "com.atproto.repo.applyWrites#createResult",
			"uri":   strings.Replace(uri, blueskyCollection, one.Collection, 1), "cid": version,
			"validationStatus": "valid",
		})
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"commit": map[string]string{"cid": versionOf([]byte(cid)), "rev": root.Rkey}, "results": results,
	})
}
