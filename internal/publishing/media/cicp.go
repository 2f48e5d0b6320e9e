package media

import (
	"bytes"
	"encoding/binary"
	"math"
)

// colorSpace describes colors by numbers, as video streams and PNGs do.
type colorSpace struct {
	red, green, blue, white [2]float64 // chromaticities
	toLinear                curve
}

// curve makes light of a signal: a power for its upper part, a line below, or samples.
type curve struct {
	gamma, a, b, c, d float64
	sample            func(signal float64) float64
}

// primaries returns the chromaticities of a code. ITU-T H.273, 8.1
func primaries(code byte) (s colorSpace, ok bool) {
	d65 := [2]float64{0.3127, 0.3290}
	space := func(red, green, blue, white [2]float64) (colorSpace, bool) {
		return colorSpace{red: red, green: green, blue: blue, white: white}, true
	}
	type xy = [2]float64
	switch code {
	case 1:
		return space(xy{0.64, 0.33}, xy{0.30, 0.60}, xy{0.15, 0.06}, d65)
	case 4:
		return space(xy{0.67, 0.33}, xy{0.21, 0.71}, xy{0.14, 0.08}, xy{0.310, 0.316})
	case 5:
		return space(xy{0.64, 0.33}, xy{0.29, 0.60}, xy{0.15, 0.06}, d65)
	case 6, 7:
		return space(xy{0.630, 0.340}, xy{0.310, 0.595}, xy{0.155, 0.070}, d65)
	case 9:
		return space(xy{0.708, 0.292}, xy{0.170, 0.797}, xy{0.131, 0.046}, d65)
	case 11:
		return space(xy{0.680, 0.320}, xy{0.265, 0.690}, xy{0.150, 0.060}, xy{0.314, 0.351})
	case 12:
		return space(xy{0.680, 0.320}, xy{0.265, 0.690}, xy{0.150, 0.060}, d65)
	}
	return s, false
}

// transfer returns the curve of a code. ITU-T H.273, 8.2. HDR signals are scaled so that
// their reference white is white (ITU-R BT.2408): 203 candelas, or 75 % of the signal.
func transfer(code byte) (curve, bool) {
	switch code {
	case 1, 6, 14, 15:
		return curve{gamma: 1 / 0.45, a: 1 / 1.099, b: 0.099 / 1.099, c: 1 / 4.5, d: 0.081}, true
	case 4:
		return curve{gamma: 2.2}, true
	case 5:
		return curve{gamma: 2.8}, true
	case 8:
		return curve{gamma: 1}, true
	case 13:
		return curve{gamma: 2.4, a: 1 / 1.055, b: 0.055 / 1.055, c: 1 / 12.92, d: 0.04045}, true
	case 16: // ITU-R BT.2100, table 4
		return curve{sample: func(signal float64) float64 {
			n := math.Pow(signal, 1/78.84375)
			return math.Pow(max(n-0.8359375, 0)/(18.8515625-18.6875*n), 1/0.1593017578125) * 10_000 / 203
		}}, true
	case 18: // ITU-R BT.2100, table 5
		light := func(signal float64) float64 {
			if signal <= 0.5 {
				return signal * signal / 3
			}
			return (math.Exp((signal-0.55991073)/0.17883277) + 0.28466892) / 12
		}
		return curve{sample: func(signal float64) float64 { return light(signal) / light(0.75) }}, true
	}
	return curve{}, false
}

// profileOfCICP makes a color profile of the chunk cICP: primaries, transfer, matrix and
// range (https://www.w3.org/TR/png-3/#cICP-chunk). nil: it is sRGB, or unknown.
func profileOfCICP(chunk []byte) []byte {
	if len(chunk) != 4 || chunk[0] == 1 && chunk[1] == 13 {
		return nil
	}
	space, ok := primaries(chunk[0])
	curve, known := transfer(chunk[1])
	if !ok || !known {
		return nil
	}
	space.toLinear = curve
	return space.profile()
}

// profileOfChromaticities makes a color profile of the chunks cHRM and gAMA; without one
// of them it has the value of sRGB. nil: it is sRGB. https://www.w3.org/TR/png-3/#11cHRM
func profileOfChromaticities(chromaticities, gamma []byte) []byte {
	space, _ := primaries(1)
	standard := space
	space.toLinear, _ = transfer(13)
	if len(chromaticities) == 32 {
		for i, point := range []*[2]float64{&space.white, &space.red, &space.green, &space.blue} {
			for j := range point {
				point[j] = math.Round(float64(binary.BigEndian.Uint32(chromaticities[8*i+4*j:]))) / 100_000
			}
			if point[1] <= 0 || point[0] > 1 || point[1] > 1 {
				return nil
			}
		}
	}
	isStandard := near(space.red, standard.red) && near(space.green, standard.green) &&
		near(space.blue, standard.blue) &&
		near(space.white, standard.white)
	if len(gamma) == 4 && binary.BigEndian.Uint32(gamma) > 0 && binary.BigEndian.Uint32(gamma) != 45_455 {
		isStandard = false
		space.toLinear = curve{gamma: 100_000 / float64(binary.BigEndian.Uint32(gamma))}
	}
	if isStandard {
		return nil
	}
	return space.profile()
}

func near(a, b [2]float64) bool { return math.Abs(a[0]-b[0]) < 0.002 && math.Abs(a[1]-b[1]) < 0.002 }

type matrix [3][3]float64

func (m matrix) times(n matrix) (out matrix) {
	for i := range 3 {
		for j := range 3 {
			for k := range 3 {
				out[i][j] += m[i][k] * n[k][j]
			}
		}
	}
	return out
}

func (m matrix) apply(v [3]float64) (out [3]float64) {
	for i := range 3 {
		for j := range 3 {
			out[i] += m[i][j] * v[j]
		}
	}
	return out
}

func (m matrix) inverse() (out matrix) {
	minor := func(i, j int) float64 {
		a, b, c, d := (i+1)%3, (i+2)%3, (j+1)%3, (j+2)%3
		return m[a][c]*m[b][d] - m[a][d]*m[b][c]
	}
	determinant := m[0][0]*minor(0, 0) + m[0][1]*minor(0, 1) + m[0][2]*minor(0, 2)
	for i := range 3 {
		for j := range 3 {
			out[j][i] = minor(i, j) / determinant
		}
	}
	return out
}

func xyz(point [2]float64) [3]float64 {
	return [3]float64{point[0] / point[1], 1, (1 - point[0] - point[1]) / point[1]}
}

// profile writes a matrix profile. ICC.1:2022: the colors are adapted to D50 with the
// Bradford matrix (annex E).
func (s colorSpace) profile() []byte {
	red, green, blue, white := xyz(s.red), xyz(s.green), xyz(s.blue), xyz(s.white)
	base := matrix{{red[0], green[0], blue[0]}, {red[1], green[1], blue[1]}, {red[2], green[2], blue[2]}}
	scale := base.inverse().apply(white)
	bradford := matrix{{0.8951, 0.2664, -0.1614}, {-0.7502, 1.7135, 0.0367}, {0.0389, -0.0685, 1.0296}}
	d50 := [3]float64{0.9642, 1, 0.8249}
	from, to := bradford.apply(white), bradford.apply(d50)
	adapt := bradford.inverse().times(matrix{{to[0] / from[0]}, {0, to[1] / from[1]}, {0, 0, to[2] / from[2]}}).
		times(bradford)
	colors := adapt.times(base.times(matrix{{scale[0]}, {0, scale[1]}, {0, 0, scale[2]}}))
	for _, row := range colors {
		for _, n := range row {
			if math.IsNaN(n) || math.Abs(n) > 4 {
				return nil
			}
		}
	}
	text := func(ascii string) []byte {
		out := append([]byte("mluc\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x0CenUS"), 0, 0, 0, byte(2*len(ascii)), //nolint:gosec // short
			0, 0, 0, 28)
		for _, c := range []byte(ascii) {
			out = append(out, 0, c)
		}
		return out
	}
	column := func(i int) []byte {
		return append([]byte("XYZ \x00\x00\x00\x00"), fixed(colors[0][i], colors[1][i], colors[2][i])...)
	}
	adaptation := append([]byte("sf32\x00\x00\x00\x00"),
		fixed(append(append(adapt[0][:], adapt[1][:]...), adapt[2][:]...)...)...)
	tags := []struct {
		name string
		body []byte
	}{
		{"desc", text("Colors of the image")},
		{"cprt", text("CC0")},
		{"wtpt", append([]byte("XYZ \x00\x00\x00\x00"), fixed(d50[:]...)...)},
		{"chad", adaptation},
		{"rXYZ", column(0)},
		{"gXYZ", column(1)},
		{"bXYZ", column(2)},
		{"rTRC", s.toLinear.encode()},
		{"gTRC", nil},
		{"bTRC", nil},
	}
	out := make([]byte, 128, 2048)
	copy(out[8:], "\x04\x30\x00\x00mntrRGB XYZ \x07\xEA\x00\x01\x00\x01\x00\x00\x00\x00\x00\x00acsp")
	copy(out[68:], fixed(d50[:]...))
	out = binary.BigEndian.AppendUint32(out, uint32(len(tags))) //nolint:gosec // ten
	at, length := 0, 0
	var bodies bytes.Buffer
	for _, tag := range tags {
		if tag.body != nil { // others share the last one
			at = 128 + 4 + 12*len(tags) + bodies.Len()
			length = len(tag.body)
			bodies.Write(tag.body)
			bodies.Write(make([]byte, (4-len(tag.body)%4)%4))
		}
		out = append(out, tag.name...)
		out = binary.BigEndian.AppendUint32(out, uint32(at))     //nolint:gosec // small
		out = binary.BigEndian.AppendUint32(out, uint32(length)) //nolint:gosec // small
	}
	out = append(out, bodies.Bytes()...)
	binary.BigEndian.PutUint32(out, uint32(len(out))) //nolint:gosec // small
	return out
}

// fixed encodes numbers with 16 bits after the point.
func fixed(numbers ...float64) (out []byte) {
	for _, n := range numbers {
		out = binary.BigEndian.AppendUint32(out, uint32(int32(math.Round(n*65536)))) //nolint:gosec // small, signed
	}
	return out
}

// encode writes a curve (10.6, 10.18).
func (c curve) encode() []byte {
	switch {
	case c.sample != nil:
		const samples = 1024
		out := binary.BigEndian.AppendUint32([]byte("curv\x00\x00\x00\x00"), samples)
		for i := range samples {
			light := min(1, max(0, c.sample(float64(i)/(samples-1))))
			out = binary.BigEndian.AppendUint16(out, uint16(math.Round(light*65535))) //nolint:gosec // at most 65,535
		}
		return out
	case c.d == 0:
		return append([]byte("para\x00\x00\x00\x00\x00\x00\x00\x00"), fixed(c.gamma)...)
	default:
		return append([]byte("para\x00\x00\x00\x00\x00\x03\x00\x00"), fixed(c.gamma, c.a, c.b, c.c, c.d)...)
	}
}
