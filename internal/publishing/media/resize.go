package media

import (
	"image"

	"golang.org/x/image/draw"
)

// resizeBand is the number of rows or columns that are scaled at once. The scaler
// needs 32 bytes per pixel, which would be gigabytes for a large image.
const resizeBand = 128

// resize scales with CatmullRom, which keeps edges sharp. It scales the width first and
// then the height: a scale of one changes nothing, so the bands equal the result for
// the whole image. The size is that after orientation.
func resize(img image.Image, width, height, orientation int) image.Image {
	if orientation >= 5 {
		width, height = height, width
	}
	b := img.Bounds()
	if b.Dx() == width && b.Dy() == height {
		return upright(img, orientation)
	}
	narrow := image.NewRGBA(image.Rect(0, 0, width, b.Dy()))
	for y := 0; y < b.Dy(); y += resizeBand {
		rows := min(resizeBand, b.Dy()-y)
		draw.CatmullRom.Scale(narrow, image.Rect(0, y, width, y+rows), img,
			image.Rect(b.Min.X, b.Min.Y+y, b.Max.X, b.Min.Y+y+rows), draw.Src, nil)
	}
	out := image.NewRGBA(image.Rect(0, 0, width, height))
	for x := 0; x < width; x += resizeBand {
		columns := min(resizeBand, width-x)
		draw.CatmullRom.Scale(out, image.Rect(x, 0, x+columns, height), narrow,
			image.Rect(x, 0, x+columns, b.Dy()), draw.Src, nil)
	}
	return upright(out, orientation)
}

// upright rotates and mirrors an image according to its EXIF orientation (CIPA DC-008,
// 4.6.4 A).
func upright(img image.Image, orientation int) image.Image {
	if orientation <= 1 || orientation > 8 {
		return img
	}
	b := img.Bounds()
	src := image.NewRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	draw.Draw(src, src.Bounds(), img, b.Min, draw.Src)
	return orientPixels(src, orientation)
}
