package login

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
	"sync"
	"time"
)

// A client may try to log in so many times at once, and then again so often.
// Nothing can be guessed here (all secrets have 256 bits); the limit keeps one
// client from keeping the provider and the database busy.
const (
	attemptsAtOnce = 60 // an office may have one address for all; a login is two requests
	attemptEvery   = 5 * time.Second
	rateSlots      = 1 << 14
)

// rate limits by client. It keeps no address, not even hashed: a keyed hash,
// whose key lives as long as the process, picks one of a fixed number of slots.
// Clients that share a slot share its allowance, and nobody can choose with
// whom.
type rate struct {
	key      [32]byte
	atOnce   int
	interval time.Duration

	mu   sync.Mutex
	full [rateSlots]time.Time // when the slot has all its allowance again
}

func newRate(atOnce int, interval time.Duration) *rate {
	r := &rate{atOnce: atOnce, interval: interval}
	_, _ = rand.Read(r.key[:]) // never fails, see crypto/rand
	return r
}

// allow is the generic cell rate algorithm: each attempt moves the time at
// which the allowance is whole again by one interval.
func (r *rate) allow(address string, now time.Time) bool {
	slot := r.slot(address)
	r.mu.Lock()
	defer r.mu.Unlock()
	full := r.full[slot]
	if full.Before(now) {
		full = now
	}
	full = full.Add(r.interval)
	if full.Sub(now) > time.Duration(r.atOnce)*r.interval {
		return false
	}
	r.full[slot] = full
	return true
}

// slot treats an IPv6 network of 64 bits as one client: whoever has one address
// of it has them all.
func (r *rate) slot(address string) int {
	if ip, err := netip.ParseAddr(address); err == nil {
		ip = ip.Unmap().WithZone("")
		bits := 32
		if ip.Is6() {
			bits = 64
		}
		address = netip.PrefixFrom(ip, bits).Masked().String()
	}
	mac := hmac.New(sha256.New, r.key[:])
	mac.Write([]byte(address))
	return int(binary.BigEndian.Uint16(mac.Sum(nil)) % rateSlots)
}
