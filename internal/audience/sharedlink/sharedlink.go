// Package sharedlink shares reports of a site with people who have no login.
//
// A shared link shows one report, read-only, to anyone who has its URL. The URL
// contains a random token of 128 bits, of which only the hash is stored.
package sharedlink

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"golang.org/x/crypto/bcrypt"

	"dateline/internal/audience/report"
	"dateline/internal/audience/site"
	"dateline/internal/identity/secret"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
)

// Path is the path prefix of shared reports.
const Path = "/shared/"

// Link is a shared link.
type Link struct {
	ID           uuid.UUID
	WorkspaceID  uuid.UUID
	SiteID       uuid.UUID
	Name         string
	Filters      report.Filters // of the report
	EmbedOrigins []string       // pages that may embed the report, such as https://news.example
	ExpiresAt    *time.Time
	CreatedAt    time.Time
	TokenHash    []byte
	PasswordHash []byte // nil: no password
}

// Store persists links and records their creation and deletion in the audit log.
type Store interface {
	CreateSharedLink(ctx context.Context, l Link, limit int) (Link, error)
	SharedLinks(ctx context.Context, workspace, site uuid.UUID) ([]Link, error)
	DeleteSharedLink(ctx context.Context, workspace, site, id uuid.UUID) error
	// SharedLink returns a link that has not expired, with its site.
	SharedLink(ctx context.Context, tokenHash []byte) (Link, site.Site, error)
}

// Service manages shared links.
type Service struct {
	Store     Store
	PublicURL string
}

// Draft is a link to create.
type Draft struct {
	Name         string
	Filters      report.Filters
	Password     secret.Text // empty: none
	EmbedOrigins []string
	ExpiresAt    *time.Time
}

const (
	maxLinks          = 50 // per site
	maxNameLength     = 100
	minPasswordLength = 8
	maxPasswordLength = 72 // bytes that bcrypt uses
	maxOrigins        = 10
	tokenBytes        = 16
)

// Create creates a link and returns its URL, which is shown only once.
func (s *Service) Create(
	ctx context.Context, who workspace.Principal, siteID uuid.UUID, d Draft,
) (Link, secret.Text, error) {
	if problems := d.validate(time.Now()); len(problems) > 0 {
		return Link{}, secret.Text{}, apperr.InvalidFields(problems...)
	}
	if err := d.Filters.Check(); err != nil {
		return Link{}, secret.Text{}, err
	}
	raw := make([]byte, tokenBytes)
	_, _ = rand.Read(raw) // never fails, see crypto/rand
	token := base64.RawURLEncoding.EncodeToString(raw)
	l := Link{
		ID: uuid.Must(uuid.NewV7()), WorkspaceID: who.WorkspaceID, SiteID: siteID, Name: d.Name, Filters: d.Filters,
		EmbedOrigins: d.EmbedOrigins,
		ExpiresAt:    d.ExpiresAt, TokenHash: hashToken(token),
	}
	if password := d.Password.Reveal(); password != "" {
		var err error
		if l.PasswordHash, err = bcrypt.GenerateFromPassword([]byte(password), bcrypt.DefaultCost); err != nil {
			return Link{}, secret.Text{}, err
		}
	}
	made, err := s.Store.CreateSharedLink(ctx, l, maxLinks)
	return made, secret.NewText(strings.TrimSuffix(s.PublicURL, "/") + Path + token), err
}

// List lists the links of a site, the oldest first.
func (s *Service) List(ctx context.Context, who workspace.Principal, siteID uuid.UUID) ([]Link, error) {
	return s.Store.SharedLinks(ctx, who.WorkspaceID, siteID)
}

// Revoke deletes a link. Its URL stops working immediately.
func (s *Service) Revoke(ctx context.Context, who workspace.Principal, siteID, id uuid.UUID) error {
	return s.Store.DeleteSharedLink(ctx, who.WorkspaceID, siteID, id)
}

// hashToken returns the stored form of a token. Tokens are random, so a fast hash is
// enough.
func hashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

func (d *Draft) validate(now time.Time) []apperr.FieldError {
	var problems []apperr.FieldError
	wrong := func(field, code, message string) {
		problems = append(problems, apperr.FieldError{Field: field, Code: code, Message: message})
	}
	d.Name = strings.TrimSpace(d.Name)
	if d.Name == "" || utf8.RuneCountInString(d.Name) > maxNameLength || !utf8.ValidString(d.Name) ||
		strings.ContainsRune(d.Name, 0) {
		wrong("name", "invalid", "Enter a name of at most 100 characters.")
	}
	if n := len(d.Password.Reveal()); n > 0 && (n < minPasswordLength || n > maxPasswordLength) {
		wrong("password", "invalid", "Must have from 8 to 72 bytes.")
	}
	if d.ExpiresAt != nil && !d.ExpiresAt.After(now) {
		wrong("expires_at", "in_the_past", "Must be in the future.")
	}
	if len(d.EmbedOrigins) > maxOrigins {
		wrong("embed_origins", "too_many", "At most 10 origins.")
	}
	for _, origin := range d.EmbedOrigins {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Scheme+"://"+u.Host != origin ||
			strings.ContainsAny(origin, " ;,'\"*") {
			wrong("embed_origins", "invalid", "Enter origins such as https://news.example, without a path.")
			break
		}
	}
	// Browsers do not send the cookie of a password to frames of other sites.
	if len(d.EmbedOrigins) > 0 && !d.Password.Empty() {
		wrong("password", "not_allowed",
			"An embedded report cannot have a password. Remove the password or embed_origins.")
	}
	return problems
}

// Opened is the result of opening a link.
type Opened struct {
	Link   Link
	Site   site.Site
	Locked bool // a password is required
}

// Open returns the link of a token. key is what Unlock returned earlier, if anything.
// Unknown, revoked and expired links return the same error.
func (s *Service) Open(ctx context.Context, token, key string) (Opened, error) {
	if raw, err := base64.RawURLEncoding.DecodeString(token); err != nil || len(raw) != tokenBytes {
		return Opened{}, apperr.NotFound("shared_link")
	}
	l, w, err := s.Store.SharedLink(ctx, hashToken(token))
	if err != nil {
		return Opened{}, err
	}
	return Opened{Link: l, Site: w, Locked: l.PasswordHash != nil && !hmac.Equal([]byte(key), []byte(l.key(token)))},
		nil
}

// Unlock checks a password. key allows opening the link; it cannot be derived from
// the token alone.
func (o *Opened) Unlock(token, password string) (key string, ok bool) {
	if len(password) > maxPasswordLength ||
		bcrypt.CompareHashAndPassword(o.Link.PasswordHash, []byte(password)) != nil {
		return "", false
	}
	return o.Link.key(token), true
}

func (l *Link) key(token string) string {
	mac := hmac.New(sha256.New, []byte(token))
	_, _ = mac.Write(l.PasswordHash)
	return hex.EncodeToString(mac.Sum(nil))
}
