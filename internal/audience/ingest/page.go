package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"dateline/internal/infra/apperr"
)

const (
	pageLimit = 200  // bytes of a page's name, as the counters take it
	rawLimit  = 4000 // of what it is made from
)

// PageName makes a page's name: of an address its path, with what of its query
// names a page; of anything else, such as a post's id, the text itself.
func PageName(text string) (string, *apperr.FieldError) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return "", &apperr.FieldError{Code: "required", Message: "Name the page: its address, or an id of yours."}
	case len(text) > rawLimit:
		return "", &apperr.FieldError{Code: "too_long", Message: "At most 4000 bytes."}
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "", &apperr.FieldError{Code: "invalid", Message: "It holds what is no text."}
	}
	if strings.HasPrefix(text, "/") || strings.Contains(text, "://") {
		u, err := url.Parse(text)
		if err != nil {
			return "", &apperr.FieldError{Code: "invalid", Message: "It is no address."}
		}
		text = pathOf(u)
	}
	return shortened(text), nil
}

func pathOf(u *url.URL) string {
	path := u.Path
	if path == "" {
		path = "/"
	}
	if len(path) > 1 {
		path = "/" + strings.Trim(path, "/")
	}
	if u.RawQuery == "" {
		return clean(path)
	}
	query, _ := url.ParseQuery(u.RawQuery) // what cannot be read names no page
	for name := range query {
		if isTracking(name) {
			query.Del(name)
		}
	}
	if len(query) == 0 {
		return clean(path)
	}
	return clean(path) + "?" + query.Encode() // sorted
}

// clean keeps what was behind percent signs and is no text out of names.
func clean(path string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return '_'
		}
		return r
	}, path)
}

// isTracking knows parameters that say how a reader came, not what is read.
func isTracking(name string) bool {
	name = strings.ToLower(name)
	for _, beginning := range []string{"utm_", "mc_", "pk_", "mtm_", "hsa_", "_hs", "vero_", "fb_", "zarsrc"} {
		if strings.HasPrefix(name, beginning) {
			return true
		}
	}
	switch name {
	case "fbclid", "gclid", "dclid", "gbraid", "wbraid", "gad_source", "msclkid", "yclid", "twclid", "ttclid", "li_fat_id", "igshid", "igsh",
		"srsltid", "_ga", "_gl", "ref", "ref_src", "zclid", "zalo_src", "ecid", "oly_anon_id", "oly_enc_id", "s_cid", "mkt_tok", "dateline_optout":
		return true
	}
	return false
}

// shortened ends a long name with a hash of all of it, so that two pages stay two.
func shortened(name string) string {
	if len(name) <= pageLimit {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	end := "~" + hex.EncodeToString(sum[:8])
	cut := pageLimit - len(end)
	for !utf8.RuneStart(name[cut]) {
		cut--
	}
	return name[:cut] + end
}

// denseID reads the id of a reader whom the site counts by ids.
func denseID(text string, most int64) (uint32, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n == 0 || int64(n) > most { //nolint:gosec // 32 bits
		return 0, apperr.InvalidFields(apperr.FieldError{Field: "user", Code: "out_of_range",
			Message: "This site counts its readers by ids: send a whole number from 1 to " + strconv.FormatInt(most, 10) + ", or no user."})
	}
	return uint32(n), nil
}
