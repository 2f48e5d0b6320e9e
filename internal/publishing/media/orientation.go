package media

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"slices"

	"dateline/internal/publishing/media/metadata"
)

// reorientQuality is the JPEG quality of images that are re-encoded to apply their
// orientation: higher than the quality that networks keep.
const reorientQuality = 95

// reorient re-encodes a still image with its orientation applied, its color profile,
// and the credit of the plan. ok is false if that would lose too much; the image then
// keeps an EXIF block that contains only the orientation.
func (s *Service) reorient(
	src io.ReaderAt, size int64, f Facts, plan *metadata.Plan,
) (content []byte, ok bool, err error) {
	if f.Frames != 1 || int64(f.Width)*int64(f.Height) > maxRenderPixels || f.MIMEType != typeJPEG &&
		f.MIMEType != typePNG {
		return nil, false, nil
	}
	s.rendering.Lock() // one large image at a time, like conversions
	defer s.rendering.Unlock()
	img, err := decode(io.NewSectionReader(src, 0, size), f.MIMEType)
	if err != nil {
		return nil, false, nil //nolint:nilerr // viewers may be able to decode it
	}
	turned := orientPixels(img, plan.Orientation)
	if turned == nil {
		return nil, false, nil
	}
	var out bytes.Buffer
	if f.MIMEType == typePNG {
		if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, turned); err != nil {
			return nil, false, fmt.Errorf("encoding a turned image: %w", err)
		}
		colors, err := pngColors(src, size)
		if err != nil {
			return nil, false, err
		}
		content = slices.Insert(out.Bytes(), metadata.CreditOffset(typePNG), colors...)
	} else {
		profile := jpegProfile(src, size)
		if len(profile) > maxProfile {
			return nil, false, nil
		}
		if err := jpeg.Encode(&out, turned, &jpeg.Options{Quality: reorientQuality}); err != nil {
			return nil, false, fmt.Errorf("encoding a turned image: %w", err)
		}
		content = jpegWithProfile(out.Bytes(), profile)
	}
	return slices.Insert(content, metadata.CreditOffset(f.MIMEType), plan.Credit...), true, nil
}

// pngColors returns the color space chunks of a PNG unchanged.
// https://www.w3.org/TR/png-3/#11addnlcolinfo
func pngColors(r io.ReaderAt, size int64) (chunks []byte, err error) {
	var head [8]byte
	for at := int64(8); at+12 <= size; {
		if _, err := r.ReadAt(head[:], at); err != nil {
			return nil, err
		}
		length := int64(binary.BigEndian.Uint32(head[:]))
		switch kind := string(head[4:]); kind {
		case "IDAT":
			return chunks, nil
		case "iCCP", "gAMA", "cHRM", "sRGB", "cICP", "mDCV", "cLLI":
			if length > maxProfile || at+12+length > size {
				break
			}
			body := make([]byte, 12+length)
			if _, err := r.ReadAt(body, at); err != nil {
				return nil, err
			}
			chunks = append(chunks, body...)
		}
		at += 12 + length
	}
	return chunks, nil
}

// orientPixels applies the orientation without changing the color model, so that no
// color information is lost; nil for models that the encoder does not support.
func orientPixels(img image.Image, orientation int) image.Image {
	b := img.Bounds()
	w, h := b.Dx(), b.Dy()
	outW, outH := w, h
	if orientation >= 5 {
		outW, outH = h, w
	}
	r := image.Rect(0, 0, outW, outH)
	plane := func(pix []uint8, stride, bytes int) []uint8 {
		return orientPlane(pix, stride, bytes, w, h, orientation)
	}
	switch m := img.(type) {
	case *image.YCbCr:
		return orientYCbCr(m, orientation)
	case *image.Gray:
		return &image.Gray{Pix: plane(m.Pix, m.Stride, 1), Stride: outW, Rect: r}
	case *image.Gray16:
		return &image.Gray16{Pix: plane(m.Pix, m.Stride, 2), Stride: 2 * outW, Rect: r}
	case *image.Paletted:
		return &image.Paletted{Pix: plane(m.Pix, m.Stride, 1), Stride: outW, Rect: r, Palette: m.Palette}
	case *image.RGBA:
		return &image.RGBA{Pix: plane(m.Pix, m.Stride, 4), Stride: 4 * outW, Rect: r}
	case *image.NRGBA:
		return &image.NRGBA{Pix: plane(m.Pix, m.Stride, 4), Stride: 4 * outW, Rect: r}
	case *image.RGBA64:
		return &image.RGBA64{Pix: plane(m.Pix, m.Stride, 8), Stride: 8 * outW, Rect: r}
	case *image.NRGBA64:
		return &image.NRGBA64{Pix: plane(m.Pix, m.Stride, 8), Stride: 8 * outW, Rect: r}
	}
	return nil // CMYK: its profile would not match the output
}

// orientYCbCr applies the orientation to the planes of a photo. It converts to RGB
// where the chroma samples of an odd edge would shift by half a sample.
func orientYCbCr(m *image.YCbCr, orientation int) image.Image {
	b := m.Bounds()
	ratios := map[image.YCbCrSubsampleRatio]image.YCbCrSubsampleRatio{
		image.YCbCrSubsampleRatio444: image.YCbCrSubsampleRatio444,
		image.YCbCrSubsampleRatio420: image.YCbCrSubsampleRatio420,
		image.YCbCrSubsampleRatio422: image.YCbCrSubsampleRatio440,
		image.YCbCrSubsampleRatio440: image.YCbCrSubsampleRatio422,
	}
	ratio, ok := ratios[m.SubsampleRatio]
	if !ok || b.Min != (image.Point{}) || (b.Dx()%2 != 0 || b.Dy()%2 != 0) && ratio != image.YCbCrSubsampleRatio444 {
		return upright(m, orientation)
	}
	width, height := b.Dx(), b.Dy()
	if orientation >= 5 {
		width, height = height, width
	} else {
		ratio = m.SubsampleRatio
	}
	colors := m.COffset(0, b.Dy()-1)/m.CStride + 1 // rows of the color planes
	columns := m.COffset(b.Dx()-1, 0) + 1
	out := &image.YCbCr{
		SubsampleRatio: ratio, Rect: image.Rect(0, 0, width, height), YStride: width, CStride: columns,
		Y:  orientPlane(m.Y, m.YStride, 1, b.Dx(), b.Dy(), orientation),
		Cb: orientPlane(m.Cb, m.CStride, 1, columns, colors, orientation),
		Cr: orientPlane(m.Cr, m.CStride, 1, columns, colors, orientation),
	}
	if orientation >= 5 {
		out.CStride = colors
	}
	return out
}

// orientPlane rotates and mirrors a plane with a fixed number of bytes per pixel.
func orientPlane(pix []uint8, stride, bytes, w, h, orientation int) []uint8 {
	outW, outH := w, h
	if orientation >= 5 {
		outW, outH = h, w
	}
	out := make([]uint8, outW*outH*bytes)
	at := 0
	for y := range outH {
		for x := range outW {
			sx, sy := origin(x, y, w, h, orientation)
			copy(out[at:at+bytes], pix[sy*stride+sx*bytes:])
			at += bytes
		}
	}
	return out
}

// origin returns the position in the stored image, of w × h pixels, of a pixel of the
// upright image. CIPA DC-008, 4.6.4 A defines orientations by the position of the
// first row and the first column.
func origin(x, y, w, h, orientation int) (sx, sy int) {
	switch orientation {
	case 2:
		return w - 1 - x, y
	case 3:
		return w - 1 - x, h - 1 - y
	case 4:
		return x, h - 1 - y
	case 5:
		return y, x
	case 6:
		return y, h - 1 - x
	case 7:
		return w - 1 - y, h - 1 - x
	case 8:
		return w - 1 - y, x
	}
	return x, y
}
