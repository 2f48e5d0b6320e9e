package pgsearch

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// rotate rotates a vector, always in the same way, and returns it. Rotations keep the
// similarities of vectors, but afterwards no component weighs more than others, so that
// signs, which keep nothing else, say much more. A rotation is two rounds of random changes
// of sign and a Walsh-Hadamard transform (Ailon and Chazelle, The Fast Johnson-Lindenstrauss
// Transform, 2009). Stored vectors depend on it: a change of it has to delete them.
func rotate(v []float32) []float32 {
	if len(v) == 0 {
		return v
	}
	r := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // the same for all vectors
	width := 1 << (bits.Len(uint(len(v))) - 1)
	for range 2 {
		for i := range v {
			if r.Uint64()&1 == 0 {
				v[i] = -v[i]
			}
		}
		transform(v[:width])
		if width < len(v) {
			transform(v[len(v)-width:])
		}
	}
	return v
}

// transform is the normalized Walsh-Hadamard transform of a vector whose length is a power
// of two.
func transform(v []float32) {
	for half := 1; half < len(v); half *= 2 {
		for at := 0; at < len(v); at += 2 * half {
			a, b := v[at:at+half], v[at+half:at+2*half]
			for i, x := range a {
				a[i], b[i] = x+b[i], x-b[i]
			}
		}
	}
	scale := float32(1 / math.Sqrt(float64(len(v))))
	for i := range v {
		v[i] *= scale
	}
}
