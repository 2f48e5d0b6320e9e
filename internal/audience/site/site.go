// Package site keeps the web sites whose pages are counted, with their settings.
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

// VisitorMode is how visitors are told apart who are not logged in.
type VisitorMode string

// The modes.
const (
	Cookie     VisitorMode = "cookie"     // by a cookie of the site's own, which the tracker sets
	Cookieless VisitorMode = "cookieless" // by nothing that is kept with them
)

// Site is one web site. Its time zone and its way of counting uniques are for
// ever: counts by another one would not add up with those that are there.
type Site struct {
	ID, WorkspaceID uuid.UUID
	Name            string
	Domains         []string // hosts, with all below them; none: hits may come from everywhere
	TimeZone        string
	WindowSeconds   int
	UniqueMethod    counter.UniqueMethod
	MaxID           int64 // views.Bitmap: the largest id of a reader
	RateHits        int   // hits of a kind that a visitor may make …
	RateSeconds     int   // … within this time
	Visitors        VisitorMode
	WeeklyUniques   bool // the salt of cookieless visitors lasts a week, not a day
	PublicCounts    bool // everybody may read how often a page was viewed
	WriteKey        string
	CreatedAt       time.Time
	UpdatedAt       time.Time

	SecretHash []byte // of the key for servers
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
	// The keys' beginnings tell people, and programs that look for leaked secrets,
	// what they have before them.
	writeKeyPrefix  = "dlw_"
	secretKeyPrefix = "dls_"
)

// newKey makes a random key of n bytes.
func newKey(prefix string, n int) string {
	raw := make([]byte, n)
	_, _ = rand.Read(raw) // never fails, see crypto/rand
	return prefix + base64.RawURLEncoding.EncodeToString(raw)
}

// HashSecret is what is kept of a key for servers.
func HashSecret(key string) []byte {
	sum := sha256.Sum256([]byte(key))
	return sum[:]
}

// Allows says whether a host belongs to the site: it is one of the domains, or
// below one.
func (s *Site) Allows(host string) bool {
	if len(s.Domains) == 0 {
		return true
	}
	return s.Owns(host)
}

// Owns is Allows, but of a site without domains: to such a site no host belongs.
func (s *Site) Owns(host string) bool {
	for _, d := range s.Domains {
		if rest, ok := strings.CutSuffix(host, d); ok && (rest == "" || rest[len(rest)-1] == '.') {
			return true
		}
	}
	return false
}

// validate finds what is wrong with settings, and tidies them.
func (s *Site) validate() []apperr.FieldError {
	var problems []apperr.FieldError
	wrong := func(field, code, message string) {
		problems = append(problems, apperr.FieldError{Field: field, Code: code, Message: message})
	}
	s.Name = strings.TrimSpace(s.Name)
	switch {
	case s.Name == "":
		wrong("name", "required", "Give the site a name.")
	case !utf8.ValidString(s.Name) || strings.ContainsRune(s.Name, 0):
		wrong("name", "invalid", "The name holds bytes that are no characters.")
	case utf8.RuneCountInString(s.Name) > maxNameLength:
		wrong("name", "too_long", "The name is longer than 200 characters.")
	}
	domains := make([]string, 0, len(s.Domains))
	for _, text := range s.Domains {
		host, ok := cleanHost(text)
		if !ok {
			wrong("domains", "invalid", "Give hosts alone, such as news.example; hosts below them are meant, too.")
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
		wrong("time_zone", "unknown_zone", "Give an IANA name such as Asia/Ho_Chi_Minh.")
	}
	between := func(field string, value, least, most int64, message string) {
		if value < least || value > most {
			wrong(field, "out_of_range", message)
		}
	}
	between("window_seconds", int64(s.WindowSeconds), 60, 86400, "From 60 (a minute) to 86400 (a day).")
	between("rate_hits", int64(s.RateHits), 1, 100_000, "From 1 to 100000.")
	between("rate_seconds", int64(s.RateSeconds), 1, 3600, "From 1 to 3600.")
	switch s.UniqueMethod {
	case counter.Bitmap:
		between("max_id", s.MaxID, 1, math.MaxUint32, "The bitmap needs the largest id of a reader, from 1 to 4294967295.")
	case counter.Set, counter.SetPerDay, counter.HyperLogLog:
		between("max_id", s.MaxID, 0, 0, "Only the bitmap has a largest id.")
	default:
		wrong("uniques", "not_allowed", "One of set, set_per_day, hyperloglog and bitmap.")
	}
	if s.Visitors != Cookie && s.Visitors != Cookieless {
		wrong("visitors", "not_allowed", "Either cookie or cookieless.")
	}
	return problems
}

// cleanHost gives a host name in the form in which browsers send it.
func cleanHost(text string) (string, bool) {
	host, err := idna.Lookup.ToASCII(strings.TrimSuffix(strings.TrimSpace(text), "."))
	if err != nil || host == "" || len(host) > 253 || strings.ContainsAny(host, " /:@?#*_\x00") || net.ParseIP(host) != nil {
		return "", false
	}
	return strings.ToLower(host), true
}

// PostsSite is the site under which a workspace's posts and short links are
// counted. It bears the workspace's id.
func PostsSite(workspace uuid.UUID) counter.Site {
	return counter.Site{ID: workspace, Workspace: workspace, Zone: time.UTC, Window: DefaultWindow, UniqueMethod: counter.HyperLogLog}
}
