package fake

import (
	"html"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// rewrite changes a text the way servers with Markdown do before they list it:
// escapes and emphasis are applied, entities are decoded, punctuation becomes
// typographic, and whitespace is collapsed. It is independent of the adapters'
// comparison, so that each tests the other.
func rewrite(text string) string {
	text = html.UnescapeString(text)
	text = regexp.MustCompile(`(\*{1,2}|_{1,2})([^\s*_\\](?:[^*_\n\\]*[^\s*_\\])?)(\*{1,2}|_{1,2})`).
		ReplaceAllString(text, "$2")
	text = regexp.MustCompile(`\\([!-/:-@\[-\x60{-~])`).ReplaceAllString(text, "$1")
	text = strings.NewReplacer("...", "…", " - ", " – ", "'", "’").Replace(text)
	text = regexp.MustCompile(`[ \t]+`).ReplaceAllString(text, " ")
	text = regexp.MustCompile(`\n{2,}`).ReplaceAllString(text, "\n\n")
	return strings.TrimSpace(text)
}

// The parts of a post that the fault Alter changes.
const (
	PartText       = "text"        // cut in half
	PartMedia      = "media"       // the last attachment is dropped
	PartOrder      = "media_order" // the attachments are turned around
	PartPoll       = "poll"        // dropped
	PartReply      = "reply"       // dropped
	PartVisibility = "visibility"  // public
	PartWarning    = "warning"     // dropped, as is the cover of attachments
	PartLanguage   = "language"    // English
)

// Parts lists the parts of a post that the fault Alter changes.
func Parts() []string {
	return []string{PartText, PartMedia, PartOrder, PartPoll, PartReply, PartVisibility, PartWarning, PartLanguage}
}

// applyRewrite changes a post as the faults RewriteText and Alter of its request say.
func applyRewrite(r *http.Request, post *Post) {
	if conditionsOf(r).rewrite {
		post.ListedText = rewrite(post.Text)
	}
	for _, part := range conditionsOf(r).alter {
		post.alter(part)
	}
}

func (p *Post) alter(part string) {
	drop := func(options ...string) {
		left := maps.Clone(p.Options)
		for _, name := range options {
			delete(left, name)
		}
		p.Options = left
	}
	switch part {
	case PartText:
		runes := []rune(p.Text)
		p.ListedText = string(runes[:len(runes)/2])
	case PartMedia:
		p.Media = p.Media[:max(len(p.Media)-1, 0)]
	case PartOrder:
		p.Media = slices.Clone(p.Media)
		slices.Reverse(p.Media)
	case PartPoll:
		drop("poll", "poll_attachment")
	case PartReply:
		p.ReplyTo = ""
	case PartVisibility:
		p.Visibility = "public"
	case PartWarning:
		drop("spoiler_text", "sensitive", "has_spoiler", "labels", "is_spoiler_media")
	case PartLanguage:
		p.Language = "en"
	}
}

// listedText returns the text in listings.
func (p Post) listedText() string {
	if p.ListedText != "" {
		return p.ListedText
	}
	return p.Text
}

// nodeInfoVersion is the version of the schema of showNodeInfo.
const nodeInfoVersion = "2.0"

// routeNodeInfo serves the software that the fake Mastodon server reports.
// https://nodeinfo.diaspora.software/protocol
func (s *Server) routeNodeInfo() {
	s.mux.HandleFunc("GET /.well-known/nodeinfo", func(w http.ResponseWriter, r *http.Request) {
		writeJSON(w, http.StatusOK, map[string]any{"links": []map[string]string{
			{
				"rel":  "http://nodeinfo.diaspora.software/ns/schema/" + nodeInfoVersion,
				"href": base(r) + "/nodeinfo/" + nodeInfoVersion,
			},
		}})
	})
	s.mux.HandleFunc("GET /nodeinfo/"+nodeInfoVersion, func(w http.ResponseWriter, _ *http.Request) {
		name, version, _ := strings.Cut(s.options.Software, " ")
		writeJSON(w, http.StatusOK, map[string]any{
			"version": nodeInfoVersion, "software": map[string]string{"name": name, "version": version},
			"protocols": []string{"activitypub"},
		})
	})
}
