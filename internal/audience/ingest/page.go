package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/maphash"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"dateline/internal/audience/botfilter"
	"dateline/internal/audience/dimensions"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/linkcode"
)

const (
	maxPageBytes    = 200  // of a page name, as package counter stores it
	maxRawPageBytes = 4000 // of the input
)

// PageName returns the page name for a URL or an id. For a URL it is the path
// with the query parameters that identify the page; for anything else, such as
// a post id, the text itself.
func PageName(text string) (string, *apperr.FieldError) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return "", &apperr.FieldError{Code: "required", Message: "Send the page's URL or id."}
	case len(text) > maxRawPageBytes:
		return "", &apperr.FieldError{Code: "too_long", Message: "At most 4000 bytes."}
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "", &apperr.FieldError{Code: "invalid", Message: "Must not contain control characters."}
	}
	if strings.HasPrefix(text, "/") || strings.Contains(text, "://") {
		if strings.HasPrefix(text, "/") {
			text = "/" + strings.TrimLeft(text, "/") // a path, not the host of //host
		}
		u, err := url.Parse(text)
		if err != nil {
			return "", &apperr.FieldError{Code: "invalid", Message: "Must be a valid URL."}
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
	query, _ := url.ParseQuery(u.RawQuery) // malformed parameters are dropped
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

// sanitizePath replaces control characters and invalid UTF-8 from
// percent-encoding.
func sanitizePath(path string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return '_'
		}
		return r
	}, path)
}

// isTrackingParam reports whether a parameter describes how the reader arrived
// and not what is read.
func isTrackingParam(name string) bool {
	return dimensions.IsClickID(name) || name == botfilter.OptOutCookie || name == linkcode.Parameter
}

// truncateName truncates a long name and appends a hash of it, so that
// different pages stay distinct.
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

// parseVisitorID parses the dense id of a reader on a site that uses bitmaps.
func parseVisitorID(text string, maxID int64) (uint32, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n == 0 || int64(n) > maxID { //nolint:gosec // 32 bits
		return 0, apperr.InvalidFields(apperr.FieldError{
			Field: "user", Code: "out_of_range",
			Message: "This site identifies readers by number: send a whole number from 1 to " + strconv.FormatInt(maxID,
				10) + ", or no user.",
		})
	}
	return uint32(n), nil
}

// OtherPage is the page that hits are counted for once a site has reached its
// daily limit of pages. Write keys are public, so anyone could otherwise fill
// Redis and Postgres with page names.
const OtherPage = "(other)"

// DefaultMaxPages is the default limit of pages per site, day and process.
const DefaultMaxPages = 200_000

// pageLimiter remembers today's pages of the sites, by hashes of eight bytes.
type pageLimiter struct {
	seed maphash.Seed

	mu   sync.Mutex
	day  int64
	seen map[uuid.UUID]map[uint64]struct{}
}

// nameFor returns the name that a page is counted under.
func (n *pageLimiter) nameFor(site uuid.UUID, page string, now time.Time, limit int) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if day := now.Unix() / 86400; n.seen == nil || day != n.day {
		n.seed, n.day, n.seen = maphash.MakeSeed(), day, map[uuid.UUID]map[uint64]struct{}{}
	}
	pages := n.seen[site]
	if pages == nil {
		pages = map[uint64]struct{}{}
		n.seen[site] = pages
	}
	hash := maphash.String(n.seed, page)
	if _, ok := pages[hash]; ok {
		return page
	}
	if len(pages) >= limit {
		return OtherPage
	}
	pages[hash] = struct{}{}
	return page
}
