package bluesky

import (
	"crypto/rand"
	"encoding/binary"
	"sync"
	"time"
)

// tidAlphabet is base32 in an order that sorts like the numbers.
// https://atproto.com/specs/tid
const tidAlphabet = "234567abcdefghijklmnopqrstuvwxyz"

// tidLength is the length of 64 bits, five per character.
const tidLength = 13

// tidClock generates record keys: 53 bits of microseconds, which never repeat in
// this process, and 10 random bits, which separate workers at the same
// microsecond. If even those are equal, the server refuses the second record, and
// Reconcile compares the text to determine whose the first one is.
type tidClock struct {
	now  func() time.Time
	mu   sync.Mutex
	last int64
}

func (c *tidClock) next() string {
	c.mu.Lock()
	c.last = max(c.last+1, c.now().UnixMicro())
	micros := c.last
	c.mu.Unlock()
	var chance [2]byte
	_, _ = rand.Read(chance[:])                                                             // never fails
	return encodeTID(uint64(micros)<<10 | uint64(binary.BigEndian.Uint16(chance[:])&0x3ff)) //nolint:gosec // the time is after 1970
}

func encodeTID(n uint64) string {
	var text [tidLength]byte
	for i := tidLength - 1; i >= 0; i-- {
		text[i] = tidAlphabet[n&31]
		n >>= 5
	}
	return string(text[:])
}
