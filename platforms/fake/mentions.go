package fake

import (
	"cmp"
	"crypto/sha256"
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
	slices.SortFunc(found, func(a, b Account) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return found[:min(limit, len(found))]
}

// searchMastodon searches accounts.
// https://docs.joinmastodon.org/methods/accounts/#search
func (s mastodonFake) searchMastodon(w http.ResponseWriter, r *http.Request, _ caller) {
	found := []map[string]any{}
	for _, a := range s.searchAccounts(r, "mastodon") {
		found = append(found, accountEntity(r, a))
	}
	writeJSON(w, http.StatusOK, found)
}

// blueskySearch searches accounts.
// https://docs.bsky.app/docs/api/app-bsky-actor-search-actors-typeahead
func (s blueskyFake) blueskySearch(w http.ResponseWriter, r *http.Request, _ caller) {
	actors := []map[string]any{}
	for _, a := range s.searchAccounts(r, blueskyName) {
		actors = append(actors, map[string]any{
			"did": blueskyDID(a), "handle": blueskyHandle(a),
			"displayName": strings.ToUpper(a.Name[:1]) + a.Name[1:],
			"avatar":      avatarOf(r, a),
		})
	}
	writeJSON(w, http.StatusOK, map[string]any{"actors": actors})
}

// avatarOf is the address of an account's picture.
func avatarOf(r *http.Request, a Account) string { return base(r) + "/__avatar/" + a.ID }

// showAvatar serves an account's image: a symmetric pattern in one color.
func (s *Server) showAvatar(w http.ResponseWriter, r *http.Request) {
	const cells, size = 5, 24
	hash := sha256.Sum256([]byte(r.PathValue("id")))
	shade := color.NRGBA{R: 40 + hash[0]%120, G: 40 + hash[1]%120, B: 60 + hash[2]%140, A: 255}
	light := color.NRGBA{R: 238, G: 240, B: 244, A: 255}
	picture := image.NewNRGBA(image.Rect(0, 0, cells*size, cells*size))
	for i := range cells * size * cells * size {
		x, y := i%(cells*size), i/(cells*size)
		column, row := x/size, y/size
		cell := light
		if hash[3+row*3+min(column, cells-1-column)]%2 == 0 {
			cell = shade
		}
		picture.SetNRGBA(x, y, cell)
	}
	w.Header().Set("Content-Type", "image/png")
	_ = png.Encode(w, picture)
}
