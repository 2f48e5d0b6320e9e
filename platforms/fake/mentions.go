package fake

import (
	"cmp"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// searchAccounts lists the accounts of a network whose name begins with a text.
func (s *Server) searchAccounts(r *http.Request, networkName string) []Account {
	query := strings.ToLower(strings.TrimPrefix(r.URL.Query().Get("q"), "@"))
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || limit < 1 {
		limit = 10
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Account
	for _, a := range s.state.accounts {
		if a.network() == networkName && query != "" && strings.HasPrefix(strings.ToLower(a.Name), query) {
			found = append(found, *a)
		}
	}
	slices.SortFunc(found, func(a, b Account) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return found[:min(limit, len(found))]
}

// searchMastodon searches accounts.
// https://docs.joinmastodon.org/methods/accounts/#search
func (s *Server) searchMastodon(w http.ResponseWriter, r *http.Request, _ caller) {
	found := []map[string]any{}
	for _, a := range s.searchAccounts(r, "mastodon") {
		entity := accountEntity(r, a)
		entity["avatar_static"] = base(r) + "/__avatar/" + a.ID
		found = append(found, entity)
	}
	writeJSON(w, http.StatusOK, found)
}

// blueskySearch searches accounts.
// https://docs.bsky.app/docs/api/app-bsky-actor-search-actors-typeahead
func (s *Server) blueskySearch(w http.ResponseWriter, r *http.Request, _ caller) {
	actors := []map[string]any{}
	for _, a := range s.searchAccounts(r, blueskyName) {
		actors = append(actors, map[string]any{"did": blueskyDID(a), "handle": blueskyHandle(a), "displayName": strings.ToUpper(a.Name[:1]) + a.Name[1:],
			"avatar": base(r) + "/__avatar/" + a.ID})
	}
	writeJSON(w, http.StatusOK, map[string]any{"actors": actors})
}

// showAvatar serves an account's image: one color.
func (s *Server) showAvatar(w http.ResponseWriter, r *http.Request) {
	picture := image.NewNRGBA(image.Rect(0, 0, 64, 64))
	shade := color.NRGBA{R: 40, G: 90, B: 160, A: 255}
	for _, c := range []byte(r.PathValue("id")) {
		shade.R, shade.G = shade.R+c, shade.G^c
	}
	for i := range 64 * 64 {
		picture.SetNRGBA(i%64, i/64, shade)
	}
	w.Header().Set("Content-Type", "image/png")
	_ = png.Encode(w, picture)
}
