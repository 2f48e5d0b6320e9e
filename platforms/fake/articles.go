package fake

import (
	"cmp"
	"html"
	"slices"
	"strings"
)

// filesOf returns the files of an article that exist: the featured one, by its id, and those
// in its body. The caller must hold s.mu.
func (s *Server) filesOf(featured, body string) []Media {
	var files []Media
	for id, m := range s.state.media {
		if s.hasFile(m) && (id == featured || strings.Contains(body, "/media/"+id+`"`)) {
			files = append(files, *m)
		}
	}
	slices.SortFunc(files, func(a, b Media) int { return cmp.Compare(a.ID, b.ID) })
	return files
}

func (s *Server) hasFile(m *Media) bool {
	return m != nil && (m.ExpiresAt.IsZero() || s.now().Before(m.ExpiresAt))
}

// listedArticle returns the title and the body of an article as the faults of its publishing
// left them.
func (p Post) listedArticle(title, body string) (listedTitle, listedBody string) {
	if p.ListedText == "" {
		return title, body
	}
	files := strings.Index(body+"<figure", "<figure")
	title, rest, _ := strings.Cut(p.ListedText, "\n")
	return title, "<p>" + html.EscapeString(rest) + "</p>" + body[files:]
}

// lacks reports whether a fault of the article's publishing dropped a file.
func (p Post) lacks(file Media) bool {
	return !slices.ContainsFunc(p.Media, func(m Media) bool { return m.ID == file.ID })
}
