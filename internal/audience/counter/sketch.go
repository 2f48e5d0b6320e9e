package counter

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// SiteSketches reads the HyperLogLogs of a site's visitors of a day, one per
// shard that has any.
func (c *Counter) SiteSketches(ctx context.Context, site uuid.UUID, day Day) ([][]byte, error) {
	cmds := make([]*redis.StringCmd, c.Shards())
	// Errors are those of the commands.
	_, _ = c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for shard := range cmds {
			cmds[shard] = p.Get(ctx, siteDayKey(shard, site, day))
		}
		return nil
	})
	var sketches [][]byte
	for _, cmd := range cmds {
		switch raw, err := cmd.Bytes(); {
		case err == nil:
			sketches = append(sketches, raw)
		case !errors.Is(err, redis.Nil):
			return nil, fmt.Errorf("read a site's visitors: %w", err)
		}
	}
	return sketches, nil
}

// Sketch is a HyperLogLog with the registers of Redis (hyperloglog.c): its union
// with another one is the sketch of the visitors of both. The zero value is
// empty.
type Sketch struct{ registers [sketchRegisters]byte }

const (
	sketchRegisters  = 1 << 14
	sketchHeader     = 16 // bytes: "HYLL", encoding, 3 unused, 8 of the cached count
	denseSketch      = 0
	sparseSketch     = 1
	denseBytes       = sketchHeader + sketchRegisters*6/8
	maxSparseValue   = 32
	maxRegister      = 50 // 64 bits of a hash, of which 14 choose the register
	sketchMagic      = "HYLL"
	invalidCount     = 1 << 7 // in the last byte of the cached count
	maxZeroRun       = 1 << 14
	maxShortZeroRun  = 1 << 6
	maxValueRun      = 4
	longZeroOpcode   = 0x40
	sparseValueFlag  = 0x80
	sparseLengthMask = 0x3f
)

var errSketch = errors.New("malformed HyperLogLog")

// Merge adds the visitors of a HyperLogLog in the format of Redis.
func (s *Sketch) Merge(raw []byte) error {
	if len(raw) == 0 {
		return nil
	}
	if len(raw) < sketchHeader || string(raw[:4]) != sketchMagic {
		return errSketch
	}
	data := raw[sketchHeader:]
	switch raw[4] {
	case denseSketch:
		if len(raw) != denseBytes {
			return errSketch
		}
		for i := range s.registers {
			at, shift := i*6/8, i*6%8
			value := int(data[at]) >> shift
			if shift > 2 { // the rest is in the next byte
				value |= int(data[at+1]) << (8 - shift)
			}
			s.registers[i] = max(s.registers[i], byte(value&63)) //nolint:gosec // six bits
		}
		return nil
	case sparseSketch:
		return s.mergeSparse(data)
	default:
		return errSketch
	}
}

func (s *Sketch) mergeSparse(data []byte) error {
	i := 0 // register
	for at := 0; at < len(data); at++ {
		op := data[at]
		switch {
		case op&sparseValueFlag != 0:
			value := op>>2&31 + 1
			for range op&3 + 1 {
				if i >= sketchRegisters {
					return errSketch
				}
				s.registers[i] = max(s.registers[i], value)
				i++
			}
		case op&longZeroOpcode != 0:
			if at++; at == len(data) {
				return errSketch
			}
			i += int(op&sparseLengthMask)<<8 + int(data[at]) + 1
		default:
			i += int(op) + 1
		}
	}
	if i != sketchRegisters {
		return errSketch
	}
	return nil
}

// Bytes returns the sketch in the format of Redis, in the shorter encoding.
func (s *Sketch) Bytes() []byte {
	header := append([]byte(sketchMagic), make([]byte, sketchHeader-len(sketchMagic))...)
	header[sketchHeader-1] = invalidCount
	header[4] = sparseSketch
	if sparse, ok := s.appendSparse(header); ok {
		return sparse
	}
	b := make([]byte, denseBytes+1) // one more for the last register's second byte
	copy(b, header)
	b[4] = denseSketch
	data := b[sketchHeader:]
	for i, value := range s.registers {
		at, shift := i*6/8, i*6%8
		data[at] |= value << shift
		data[at+1] |= byte(int(value) >> (8 - shift)) //nolint:gosec // six bits
	}
	return b[:denseBytes]
}

// appendSparse appends the sparse encoding; ok is false if there is none shorter
// than the dense one.
func (s *Sketch) appendSparse(b []byte) (_ []byte, ok bool) {
	for i := 0; i < sketchRegisters; {
		value, n := s.registers[i], 1
		for i+n < sketchRegisters && s.registers[i+n] == value {
			n++
		}
		i += n
		for n > 0 {
			switch {
			case value > maxSparseValue || len(b) >= denseBytes:
				return nil, false
			case value > 0:
				run := min(n, maxValueRun)
				b, n = append(b, sparseValueFlag|(value-1)<<2|byte(run-1)), n-run //nolint:gosec // at most 3
			case n <= maxShortZeroRun:
				b, n = append(b, byte(n-1)), 0
			default:
				run := min(n, maxZeroRun)
				b, n = append(b, longZeroOpcode|byte((run-1)>>8), byte(run-1)), n-run //nolint:gosec // the lower byte
			}
		}
	}
	return b, true
}

// Count estimates the number of visitors as Redis does (Ertl, "New cardinality
// estimation algorithms for HyperLogLog sketches", 2017).
func (s *Sketch) Count() int64 {
	var histogram [64]int
	for _, value := range s.registers {
		histogram[value&63]++
	}
	return estimate(&histogram)
}

// estimate estimates the number of visitors from the number of registers by value.
func estimate(histogram *[64]int) int64 {
	const m = float64(sketchRegisters)
	z := m * tau((m-float64(histogram[maxRegister+1]))/m)
	for i := maxRegister; i >= 1; i-- {
		z = (z + float64(histogram[i])) / 2
	}
	z += m * sigma(float64(histogram[0])/m)
	return int64(math.Round(m * m / (2 * math.Ln2) / z))
}

func tau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	y, z := 1.0, 1-x
	for last := math.NaN(); z != last; {
		x = math.Sqrt(x)
		last = z
		y /= 2
		z -= (1 - x) * (1 - x) * y
	}
	return z / 3
}

func sigma(x float64) float64 {
	if x == 1 {
		return math.Inf(1)
	}
	y, z := 1.0, x
	for last := math.NaN(); z != last; {
		x *= x
		last = z
		z += x * y
		y += y
	}
	return z
}
