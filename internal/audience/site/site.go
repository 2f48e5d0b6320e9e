// Package site manages the websites whose pages are counted, with their
// settings.
package site

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"math"
	"net"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"golang.org/x/net/idna"

	"dateline/internal/audience/counter"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/timezone"
)

// VisitorMode is how visitors that are not logged in are identified.
type VisitorMode string

// The modes.
const (
	Cookie     VisitorMode = "cookie"     // by a first-party cookie set by the tracker
	Cookieless VisitorMode = "cookieless" // by a salted hash, without storing anything in the browser
)

// Site is a website. Its time zone and unique counting method can't be changed,
// because later counts would not add up with earlier ones.
type Site struct {
	ID, WorkspaceID uuid.UUID
	Name            string
	Domains         []string // hosts, including their subdomains; empty: any origin is allowed
	TimeZone        string
	WindowSeconds   int
	UniqueMethod    counter.UniqueMethod
	MaxID           int64 // Bitmap: the maximum id of a reader
	RateHits        int   // rate limit: maximum hits of a kind per visitor …
	RateSeconds     int   // … within this window
	Visitors        VisitorMode
	WeeklyUniques   bool // salts of cookieless visitors rotate weekly instead of daily
	PublicCounts    bool // view counts are readable without authentication
	Events          []Event
	Goals           []Goal
	WriteKey        string
	CreatedAt       time.Time
	UpdatedAt       time.Time

	SecretHash []byte // of the secret key
	VisitorKey []byte // sealed
}

// Defaults of a site.
const (
	DefaultWindow     = 30 * time.Minute
	DefaultRateHits   = 5
	DefaultRateWindow = 10 * time.Second
)

const (
	maxNameLength = 200
	maxDomains    = 50
	// Prefixes identify the keys for people and secret scanners.
	writeKeyPrefix  = "dlw_"
	secretKeyPrefix = "dls_"
)

// newKey generates a random key of n bytes.
func newKey(prefix string, n int) string {
	raw := make([]byte, n)
	_, _ = rand.Read(raw) // never fails, see crypto/rand
	return prefix + base64.RawURLEncoding.EncodeToString(raw)
}

// HashSecret returns the stored hash of a secret key.
func HashSecret(key string) []byte {
	sum := sha256.Sum256([]byte(key))
	return sum[:]
}

// Allows reports whether hits may come from a host: one of the domains or a
// subdomain; any host if the site has no domains.
func (s *Site) Allows(host string) bool {
	if len(s.Domains) == 0 {
		return true
	}
	return s.Owns(host)
}

// Owns reports whether a host is one of the domains or a subdomain.
func (s *Site) Owns(host string) bool {
	for _, d := range s.Domains {
		if rest, ok := strings.CutSuffix(host, d); ok && (rest == "" || rest[len(rest)-1] == '.') {
			return true
		}
	}
	return false
}

// validate normalizes the settings and returns their errors.
func (s *Site) validate() []apperr.FieldError {
	var problems []apperr.FieldError
	wrong := func(field, code, message string) {
		problems = append(problems, apperr.FieldError{Field: field, Code: code, Message: message})
	}
	s.Name = strings.TrimSpace(s.Name)
	switch {
	case s.Name == "":
		wrong("name", "required", "Enter a name.")
	case !utf8.ValidString(s.Name) || strings.ContainsRune(s.Name, 0):
		wrong("name", "invalid", "Must be valid UTF-8 text.")
	case utf8.RuneCountInString(s.Name) > maxNameLength:
		wrong("name", "too_long", "Must have at most 200 characters.")
	}
	domains := make([]string, 0, len(s.Domains))
	for _, text := range s.Domains {
		host, ok := cleanHost(text)
		if !ok {
			wrong("domains", "invalid", "Enter hosts only, such as news.example; subdomains are included.")
			break
		}
		domains = append(domains, host)
	}
	slices.Sort(domains)
	s.Domains = slices.Compact(domains)
	if len(s.Domains) > maxDomains {
		wrong("domains", "too_many", "At most 50 domains.")
	}
	if _, err := timezone.Load(s.TimeZone); err != nil {
		wrong("time_zone", "unknown_zone", "Enter an IANA name such as Asia/Ho_Chi_Minh.")
	}
	between := func(field string, value, lower, upper int64, message string) {
		if value < lower || value > upper {
			wrong(field, "out_of_range", message)
		}
	}
	between("window_seconds", int64(s.WindowSeconds), 60, 86400, "From 60 (a minute) to 86400 (a day).")
	between("rate_hits", int64(s.RateHits), 1, 100_000, "From 1 to 100000.")
	between("rate_seconds", int64(s.RateSeconds), 1, 3600, "From 1 to 3600.")
	switch s.UniqueMethod {
	case counter.Bitmap:
		between("max_id", s.MaxID, 1, math.MaxUint32,
			"The bitmap method needs the maximum reader id, from 1 to 4294967295.")
	case counter.Set, counter.SetPerDay, counter.HyperLogLog:
		between("max_id", s.MaxID, 0, 0, "Only allowed with the bitmap method.")
	default:
		wrong("unique_method", "not_allowed", "One of set, set_per_day, hyperloglog and bitmap.")
	}
	problems = append(problems, s.validateEvents()...)
	if s.Visitors != Cookie && s.Visitors != Cookieless {
		wrong("visitors", "not_allowed", "One of cookie and cookieless.")
	}
	return problems
}

// cleanHost returns a host name in the form in which browsers send it.
func cleanHost(text string) (string, bool) {
	host, err := idna.Lookup.ToASCII(strings.TrimSuffix(strings.TrimSpace(text), "."))
	if err != nil || host == "" || len(host) > 253 {
		return "", false
	}
	if strings.ContainsAny(host, " /:@?#*_\x00") || net.ParseIP(host) != nil {
		return "", false
	}
	return strings.ToLower(host), true
}

// PostsSite returns the site that a workspace's posts and short links are
// counted under. It has the workspace's id.
func PostsSite(workspace uuid.UUID) counter.Site {
	return counter.Site{
		ID: workspace, Workspace: workspace, Zone: time.UTC, Window: DefaultWindow,
		UniqueMethod: counter.HyperLogLog,
	}
}
