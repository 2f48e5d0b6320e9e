// Package visitor tells visitors apart without knowing who they are.
//
// A visitor is what the site says (somebody who is logged in there), else a
// cookie of the site's own, else a hash of the network address and the browser
// with a salt that is random and forgotten. The address never leaves this
// package in any other form.
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

// Site is what of a site's settings says how its visitors are told apart.
type Site struct {
	ID   uuid.UUID
	Zone *time.Location // salts change at its midnight
	// Key is the site's secret: without it, nobody can tell from a hash which
	// login it is of.
	Key       []byte
	UseCookie bool // a cookie counts; without, only the hash of the moment
	IsWeekly  bool // salts change on Mondays only, so that a week's visitors can be told apart
}

// Traits are what a hit tells of its visitor.
type Traits struct {
	Login     string // the site's name for who is logged in
	Cookie    string
	Address   netip.Addr
	UserAgent string
}

// Identifier tells visitors apart. It is safe for concurrent use.
type Identifier struct {
	Salts *Salts
}

// What a hash is of, so that no cookie can pass for a login.
const (
	byLogin   = 'u'
	byCookie  = 'c'
	byAddress = 'a'
)

// Hash gives the visitor of a hit at a time.
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

// LoginHash gives the visitor that a site calls so, at any time: whoever asks to be
// forgotten is found by it.
func LoginHash(s Site, login string) uint64 { return digest(s.Key, byLogin, s.ID, login, "") }

// networkOf is what of an address belongs to one connection: providers give each
// of their customers at least a /64, in which devices change their addresses
// every day (RFC 8981).
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
		n = 1 // none is nobody
	}
	return n
}

// writePart keeps where a part ends.
func writePart(h hash.Hash, part string) {
	var size [4]byte
	binary.BigEndian.PutUint32(size[:], uint32(len(part))) //nolint:gosec // headers are at most 64 kB
	_, _ = h.Write(size[:])
	_, _ = h.Write([]byte(part))
}
