package counter

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// registerList lists the registers of the HyperLogLogs of a page with few visitors,
// which is stored in the page's hash: see sketch.lua. It contains as much about a
// visitor as a HyperLogLog does.
type registerList string

// registersField is the field of a page's hash with its registerList; empty or missing if
// the page has HyperLogLogs.
const registersField = "H"

const (
	registerSize     = 4         // bytes
	maxListRegisters = 16        // Redis stores values of up to 64 bytes in the compact form of hashes
	registerDays     = 1 << 13   // days are stored modulo this number
	registerMask     = 1<<19 - 1 // register and value
	registerValues   = 32        // the greatest value of a register in a list; greater ones are one in four billion
)

// appendRegister appends the register of a visitor of a day.
func appendRegister(b []byte, day Day, visitor uint64) []byte {
	register, value := registerOf(visitor)
	return appendListed(b, day, register, value)
}

func appendListed(b []byte, day Day, register int, value byte) []byte {
	number := uint32(day)%registerDays<<19 | uint32(register)<<5 | uint32(value-1) //nolint:gosec // days are not negative
	return binary.BigEndian.AppendUint32(b, number)
}

// appendRegisters appends the registers of visitors of a day, or returns nil if they don't
// fit into a list.
func appendRegisters(day Day, visitors []uint64) []byte {
	if len(visitors) > maxListRegisters {
		return nil
	}
	b := make([]byte, 0, registerSize*len(visitors))
	for _, v := range visitors {
		b = appendRegister(b, day, v)
	}
	return b
}

// registerOf returns the register of a visitor and its value, as PFADD determines them
// (hllPatLen in hyperloglog.c).
func registerOf(visitor uint64) (register int, value byte) {
	sum := murmur(visitor)
	register = int(sum % sketchRegisters)
	value = byte(bits.TrailingZeros64(sum>>14|1<<50) + 1) //nolint:gosec // at most 51
	return register, min(value, registerValues)
}

// murmur returns MurmurHash64A of a number's eight bytes, as Redis calculates it.
func murmur(n uint64) uint64 {
	const m, seed = 0xc6a4a7935bd1e995, 0xadc83b19
	length := uint64(8)
	k := bits.ReverseBytes64(n) * m // Redis reads the bytes, most significant first, as a little-endian number
	k = (k ^ k>>47) * m
	sum := seed ^ length*m ^ k
	sum *= m
	sum = (sum ^ sum>>47) * m
	return sum ^ sum>>47
}

// count estimates the number of visitors of some days, or of all time if there are none.
func (l registerList) count(days ...Day) int64 {
	var registers []uint32 // sorted by register and value
	for at := 0; at+registerSize <= len(l); at += registerSize {
		number := binary.BigEndian.Uint32([]byte(l[at : at+registerSize]))
		if len(days) == 0 || slices.ContainsFunc(days, func(d Day) bool {
			return uint32(d)%registerDays == number>>19 //nolint:gosec // days are not negative
		}) {
			registers = append(registers, number&registerMask)
		}
	}
	slices.Sort(registers)
	var histogram [64]int
	histogram[0] = sketchRegisters
	for i, n := range registers {
		if i+1 < len(registers) && registers[i+1]>>5 == n>>5 { // the largest value counts
			continue
		}
		histogram[0]--
		histogram[n&31+1]++
	}
	return estimate(&histogram)
}

// sketch returns the HyperLogLog of all time.
func (l registerList) sketch() *Sketch {
	s := new(Sketch)
	for at := 0; at+registerSize <= len(l); at += registerSize {
		number := binary.BigEndian.Uint32([]byte(l[at:at+registerSize])) & registerMask
		s.registers[number>>5] = max(s.registers[number>>5], byte(number&31+1))
	}
	return s
}

// list returns the registers of a HyperLogLog as those of a day, or nothing if they don't
// fit into a list.
func (s *Sketch) list(day Day) (l registerList) {
	var b []byte
	for register, value := range s.registers {
		if value == 0 {
			continue
		}
		if len(b) == maxListRegisters*registerSize || value > registerValues {
			return ""
		}
		b = appendListed(b, day, register, value)
	}
	return registerList(b)
}
