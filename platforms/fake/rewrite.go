package fake

import (
	"html"
	"net/http"
	"regexp"
	"strings"
)

// rewrite changes a text the way servers with Markdown do before they list it:
// escapes and emphasis are applied, entities are decoded, punctuation becomes
// typographic, and whitespace is collapsed. It is independent of the adapters'
// comparison, so that each tests the other.
func rewrite(text string) string {
	text = html.UnescapeString(text)
	text = regexp.MustCompile(`(\*{1,2}|_{1,2})([^\s*_\\](?:[^*_\n\\]*[^\s*_\\])?)(\*{1,2}|_{1,2})`).ReplaceAllString(text, "$2")
	text = regexp.MustCompile(`\\([!-/:-@\[-\x60{-~])`).ReplaceAllString(text, "$1")
	text = strings.NewReplacer("...", "…", " - ", " – ", "'", "’").Replace(text)
	text = regexp.MustCompile(`[ \t]+`).ReplaceAllString(text, " ")
	text = regexp.MustCompile(`\n{2,}`).ReplaceAllString(text, "\n\n")
	return strings.TrimSpace(text)
}

// applyRewrite sets the listed text of a post if the fault RewriteText matches
// its request.
func applyRewrite(r *http.Request, post *Post) {
	if conditionsOf(r).rewrite {
		post.ListedText = rewrite(post.Text)
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
			{"rel": "http://nodeinfo.diaspora.software/ns/schema/" + nodeInfoVersion, "href": base(r) + "/nodeinfo/" + nodeInfoVersion},
		}})
	})
	s.mux.HandleFunc("GET /nodeinfo/"+nodeInfoVersion, func(w http.ResponseWriter, _ *http.Request) {
		name, version, _ := strings.Cut(s.options.Software, " ")
		writeJSON(w, http.StatusOK, map[string]any{
			"version": nodeInfoVersion, "software": map[string]string{"name": name, "version": version}, "protocols": []string{"activitypub"},
		})
	})
}
