// Package throttle limits the request rate per client.
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

const slotCount = 1 << 16

// Limiter limits the rate of requests per client, with a burst. It does not store
// clients: a keyed hash with a random key per process selects one of a fixed number of
// slots. Clients in the same slot share its limit; the key prevents choosing a slot. It
// is safe for concurrent use.
type Limiter struct {
	key      [32]byte
	interval time.Duration
	window   time.Duration // time to refill the whole burst

	mu     sync.Mutex
	fullAt [slotCount]time.Time // when the slot is full again
}

// New returns a limiter for a burst and one request per interval.
func New(burst int, interval time.Duration) *Limiter {
	l := &Limiter{interval: interval, window: time.Duration(burst) * interval}
	_, _ = rand.Read(l.key[:]) // never fails, see crypto/rand
	return l
}

// PerSecond returns a limiter for a rate per second, averaged over ten seconds. It
// returns nil, which allows everything, if the rate is not positive.
func PerSecond(rate int) *Limiter {
	if rate <= 0 {
		return nil
	}
	return New(10*rate, time.Second/time.Duration(rate))
}

// Allow reports whether a client may send a request, and if not, the time to wait. It
// implements the generic cell rate algorithm. A nil limiter allows everything.
func (l *Limiter) Allow(client string, now time.Time) (wait time.Duration, ok bool) {
	if l == nil {
		return 0, true
	}
	slot := l.slot(client)
	l.mu.Lock()
	defer l.mu.Unlock()
	full := l.fullAt[slot]
	if full.Before(now) {
		full = now
	}
	full = full.Add(l.interval)
	if over := full.Sub(now) - l.window; over > 0 {
		return over, false
	}
	l.fullAt[slot] = full
	return 0, true
}

func (l *Limiter) slot(client string) int {
	mac := hmac.New(sha256.New, l.key[:])
	mac.Write([]byte(client))
	return int(binary.BigEndian.Uint16(mac.Sum(nil)))
}

// ClientKey returns the key of a client address. All addresses of an IPv6 /64 network
// have the same key.
func ClientKey(address string) string {
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
