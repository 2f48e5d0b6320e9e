// Package visitor identifies visitors pseudonymously.
//
// A visitor is identified by the login that the site sends, otherwise by a
// cookie of the site, otherwise by a hash of the network address and the user
// agent with a random salt that is deleted later. The address itself never
// leaves this package.
package visitor

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"net/netip"
	"time"

	"github.com/google/uuid"
)

// Site holds a site's settings for identifying visitors.
type Site struct {
	ID   uuid.UUID
	Zone *time.Location // salts rotate at its midnight
	// Key is the site's secret key for hashing logins and cookies.
	Key       []byte
	UseCookie bool // a cookie counts; without, only the hash of the moment
	IsWeekly  bool // salts change on Mondays only, so that weekly unique visitors are exact
}

// Traits are the properties of a hit that identify its visitor.
type Traits struct {
	Login     string // the site's id of the logged-in reader
	Cookie    string
	Address   netip.Addr
	UserAgent string
}

// Identifier hashes visitors. It is safe for concurrent use.
type Identifier struct {
	Salts *Salts
}

// Types of hashes, so that a cookie can't collide with a login.
const (
	byLogin   = 'u'
	byCookie  = 'c'
	byAddress = 'a'
)

// Hash returns the visitor of a hit at a time.
func (i *Identifier) Hash(ctx context.Context, s Site, t Traits, at time.Time) (uint64, error) {
	switch {
	case t.Login != "":
		return LoginHash(s, t.Login), nil
	case t.Cookie != "" && s.UseCookie:
		return digest(s.Key, byCookie, s.ID, t.Cookie, ""), nil
	}
	salt, err := i.Salts.Get(ctx, s.Zone, at, s.IsWeekly)
	if err != nil {
		return 0, err
	}
	address := networkOf(t.Address)
	return digest(salt, byAddress, s.ID, string(address.AsSlice()), t.UserAgent), nil
}

// LoginHash returns the visitor of a login, independent of the time, for
// erasure requests.
func LoginHash(s Site, login string) uint64 { return digest(s.Key, byLogin, s.ID, login, "") }

// networkOf returns the part of an address that belongs to one connection:
// providers assign each customer at least a /64, in which devices change their
// addresses daily (RFC 8981).
func networkOf(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if !a.Is6() {
		return a
	}
	p, err := a.Prefix(64)
	if err != nil {
		return a
	}
	return p.Addr()
}

func digest(key []byte, by byte, site uuid.UUID, first, second string) uint64 {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write([]byte{by})
	_, _ = h.Write(site[:])
	writePart(h, first)
	writePart(h, second)
	var out [sha256.Size]byte
	n := binary.BigEndian.Uint64(h.Sum(out[:0]))
	if n == 0 {
		n = 1 // 0 means no visitor
	}
	return n
}

// writePart writes a part with its length, so that the boundaries are part of
// the hash.
func writePart(h hash.Hash, part string) {
	var size [4]byte
	binary.BigEndian.PutUint32(size[:], uint32(len(part))) //nolint:gosec // headers are at most 64 kB
	_, _ = h.Write(size[:])
	_, _ = h.Write([]byte(part))
}
