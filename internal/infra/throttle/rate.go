// Package throttle bounds how often somebody may ask for something.
package throttle

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
	"sync"
	"time"
)

const slots = 1 << 16

// Limiter lets everybody do something so many times at once, and then again so
// often. It keeps nobody's name, not even hashed: a keyed hash, whose key lives as
// long as the process, picks one of a fixed number of slots. Who shares a slot
// shares its allowance, and nobody can choose with whom. It is safe for concurrent
// use.
type Limiter struct {
	key      [32]byte
	interval time.Duration
	whole    time.Duration // how long all of an allowance takes to come back

	mu   sync.Mutex
	full [slots]time.Time // when the slot has all its allowance again
}

// New makes a limiter.
func New(atOnce int, interval time.Duration) *Limiter {
	l := &Limiter{interval: interval, whole: time.Duration(atOnce) * interval}
	_, _ = rand.Read(l.key[:]) // never fails, see crypto/rand
	return l
}

// PerSecond makes a limiter of so many times a second, in the mean of ten
// seconds; nil when it is none.
func PerSecond(times int) *Limiter {
	if times <= 0 {
		return nil
	}
	return New(10*times, time.Second/time.Duration(times))
}

// Allow says whether somebody may, and if not, after which time to try again. It
// is the generic cell rate algorithm: each time moves the moment at which the
// allowance is whole again by one interval. Nil allows everything.
func (l *Limiter) Allow(who string, now time.Time) (wait time.Duration, ok bool) {
	if l == nil {
		return 0, true
	}
	slot := l.slot(who)
	l.mu.Lock()
	defer l.mu.Unlock()
	full := l.full[slot]
	if full.Before(now) {
		full = now
	}
	full = full.Add(l.interval)
	if over := full.Sub(now) - l.whole; over > 0 {
		return over, false
	}
	l.full[slot] = full
	return 0, true
}

func (l *Limiter) slot(who string) int {
	mac := hmac.New(sha256.New, l.key[:])
	mac.Write([]byte(who))
	return int(binary.BigEndian.Uint16(mac.Sum(nil)))
}

// Client names a client by its address. An IPv6 network of 64 bits is one:
// whoever has one address of it has them all.
func Client(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	ip = ip.Unmap().WithZone("")
	bits := 32
	if ip.Is6() {
		bits = 64
	}
	return netip.PrefixFrom(ip, bits).Masked().String()
}
