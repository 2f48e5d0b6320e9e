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
	maxPageBytes    = 200  // bytes of a page's name, as the counters take it
	maxRawPageBytes = 4000 // of what it is made from
)

// PageName makes a page's name: of an address its path, with what of its query
// names a page; of anything else, such as a post's id, the text itself.
func PageName(text string) (string, *apperr.FieldError) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return "", &apperr.FieldError{Code: "required", Message: "Name the page: its address, or an id of yours."}
	case len(text) > maxRawPageBytes:
		return "", &apperr.FieldError{Code: "too_long", Message: "At most 4000 bytes."}
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "", &apperr.FieldError{Code: "invalid", Message: "It holds what is no text."}
	}
	if strings.HasPrefix(text, "/") || strings.Contains(text, "://") {
		u, err := url.Parse(text)
		if err != nil {
			return "", &apperr.FieldError{Code: "invalid", Message: "It is no address."}
		}
		text = normalizePath(u)
	}
	return truncateName(text), nil
}

func normalizePath(u *url.URL) string {
	path := u.Path
	if path == "" {
		path = "/"
	}
	if len(path) > 1 {
		path = "/" + strings.Trim(path, "/")
	}
	if u.RawQuery == "" {
		return sanitizePath(path)
	}
	query, _ := url.ParseQuery(u.RawQuery) // what cannot be read names no page
	for name := range query {
		if isTrackingParam(name) {
			query.Del(name)
		}
	}
	if len(query) == 0 {
		return sanitizePath(path)
	}
	return sanitizePath(path) + "?" + query.Encode() // sorted
}

// sanitizePath keeps what was behind percent signs and is no text out of names.
func sanitizePath(path string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return '_'
		}
		return r
	}, path)
}

// isTrackingParam knows parameters that say how a reader came, not what is read.
func isTrackingParam(name string) bool {
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

// truncateName ends a long name with a hash of all of it, so that two pages stay two.
func truncateName(name string) string {
	if len(name) <= maxPageBytes {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	end := "~" + hex.EncodeToString(sum[:8])
	cut := maxPageBytes - len(end)
	for !utf8.RuneStart(name[cut]) {
		cut--
	}
	return name[:cut] + end
}

// parseVisitorID reads the id of a reader whom the site counts by ids.
func parseVisitorID(text string, most int64) (uint32, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n == 0 || int64(n) > most { //nolint:gosec // 32 bits
		return 0, apperr.InvalidFields(apperr.FieldError{Field: "user", Code: "out_of_range",
			Message: "This site counts its readers by ids: send a whole number from 1 to " + strconv.FormatInt(most, 10) + ", or no user."})
	}
	return uint32(n), nil
}
