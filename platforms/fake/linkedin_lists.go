package fake

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// linkedinPosts lists the posts of an author, newest first. Apps cannot list
// those of members.
func (s linkedinFake) linkedinPosts(w http.ResponseWriter, r *http.Request, c caller) {
	query := r.URL.Query()
	kind, id, _ := linkedinURN(query.Get("author"))
	if query.Get("q") != "author" || r.Header.Get("X-Restli-Method") != "FINDER" {
		refuseLinkedIn(w, http.StatusBadRequest, "ILLEGAL_ARGUMENT", "Invalid query parameters passed to request")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	author := s.state.accounts[id]
	if kind != "organization" || author == nil || author.OwnerID != c.account.ID ||
		!c.allowed("r_organization_social") {
		refuseLinkedIn(w, http.StatusForbidden, "ACCESS_DENIED",
			"Not enough permissions to access: posts.FINDER-author.20260701")
		return
	}
	start, _ := strconv.Atoi(query.Get("start"))
	count, _ := strconv.Atoi(query.Get("count"))
	if count < 1 || count > 100 {
		count = 10
	}
	elements := []map[string]any{}
	for _, p := range slices.Backward(s.state.byAccount[author.ID]) {
		if p.ReplyTo == "" && s.isListed(p) {
			elements = append(elements, linkedinEntity(p, author))
		}
	}
	slices.SortStableFunc(elements, func(a, b map[string]any) int {
		return int(b["createdAt"].(int64) - a["createdAt"].(int64)) //nolint:forcetypeassert // linkedinEntity wrote it
	})
	elements = elements[min(max(start, 0), len(elements)):]
	linkedinList(w, start, count, elements[:min(count, len(elements))])
}

func linkedinEntity(p *Post, author *Account) map[string]any {
	entity := map[string]any{
		"id": p.ID, "author": linkedinURNOf(*author), "commentary": parseLittleText(p.listedText()),
		"visibility":     strings.ToUpper(p.Visibility),
		"lifecycleState": "PUBLISHED", "createdAt": p.CreatedAt.UnixMilli(), "publishedAt": p.CreatedAt.UnixMilli(),
		"lastModifiedAt":            p.CreatedAt.UnixMilli(),
		"isReshareDisabledByAuthor": false,
	}
	media := make([]map[string]any, len(p.Media))
	for i, m := range p.Media {
		kind := "image"
		switch {
		case strings.HasPrefix(m.MIMEType, "video/"):
			kind = "video"
		case m.MIMEType == "application/pdf":
			kind = "document"
		}
		media[i] = map[string]any{"id": "urn:li:" + kind + ":" + m.ID, "altText": m.Description}
	}
	switch {
	case len(media) == 1:
		entity["content"] = map[string]any{"media": media[0]}
	case len(media) > 1:
		entity["content"] = map[string]any{"multiImage": map[string]any{"images": media}}
	case p.Options["poll"] != nil:
		entity["content"] = map[string]any{"poll": p.Options["poll"]}
	}
	return entity
}

func (s linkedinFake) linkedinOnePost(w http.ResponseWriter, r *http.Request, c caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.state.postByID[r.PathValue("urn")]
	if p != nil && s.isListed(p) {
		author := s.state.accounts[p.AccountID]
		if author.OwnerID != c.account.ID || !c.allowed("r_organization_social") {
			refuseLinkedIn(w, http.StatusForbidden, "ACCESS_DENIED",
				"Not enough permissions to access: posts.GET.20260701")
			return
		}
		writeJSON(w, http.StatusOK, linkedinEntity(p, author))
		return
	}
	refuseLinkedIn(w, http.StatusNotFound, "NOT_FOUND", "Could not find entity")
}
