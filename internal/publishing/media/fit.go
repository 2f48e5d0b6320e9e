package media

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"dateline/internal/infra/apperr"
	"dateline/internal/infra/message"
)

// Rules are the limits for media of a network. Zero values mean no limit.
type Rules struct {
	By            string // the network or server that sets them, for messages
	Types         []string
	MaxImageBytes int64
	MaxVideoBytes int64
	MaxPixels     int64 // of images, width × height
	MaxWidth      int   // of images
	MaxHeight     int
	MinRatio      float64 // of images, width / height
	MaxRatio      float64
	MinDuration   time.Duration // of videos
	MaxDuration   time.Duration

	MaxDocumentBytes int64
	MaxDocumentPages int
}

// Spec specifies an image to be rendered from another one.
type Spec struct {
	MIMEType string // image/jpeg or image/png
	OrJPEG   bool   // use image/jpeg if MIMEType does not fit into MaxBytes
	Width    int    // at most; smaller if the image does not fit into MaxBytes otherwise
	Height   int
	MaxBytes int64 // 0: no limit
}

func (s Spec) key() string {
	return fmt.Sprintf("2 %s %t %dx%d %d", s.MIMEType, s.OrJPEG, s.Width, s.Height, s.MaxBytes)
}

// Plan is the result of Fit.
type Plan struct {
	Convert  *Spec               // nil: use the file unchanged, or Problems is set
	Changes  message.Messages    // what the conversion changes
	Problems []apperr.FieldError // why the file cannot be used; empty if it can
}

// Fits reports whether the file can be used, unchanged or converted.
func (p Plan) Fits() bool { return len(p.Problems) == 0 }

// maxRenderPixels bounds the memory of a conversion.
const maxRenderPixels = 50_000_000

// Fit plans how to make a file meet the rules. Still images are scaled down and
// converted. Animations and videos are not, and nothing is cropped.
func Fit(item Item, rules Rules) Plan {
	f := fitter{item: item, rules: rules}
	if f.rules.By == "" {
		f.rules.By = "the network"
	}
	switch item.Kind {
	case Video:
		f.video()
	case Animation:
		f.animation()
	case Document:
		f.document()
	default:
		f.image()
	}
	return f.plan
}

type fitter struct {
	item  Item
	rules Rules
	plan  Plan
}

func (f *fitter) problem(code, template string, args ...any) {
	f.plan.Problems = append(f.plan.Problems, apperr.Field("file", code, template, args...))
}

func (f *fitter) change(code, template string, args ...any) {
	f.plan.Changes = append(f.plan.Changes, message.New(code, template, args...))
}

func (f *fitter) takes(mimeType string) bool {
	return len(f.rules.Types) == 0 || slices.Contains(f.rules.Types, mimeType)
}

func (f *fitter) video() {
	r := f.rules
	if !f.takes(f.item.MIMEType) {
		f.problem("unfit_type", "It is {type}, which {by} does not accept. Upload it as {accepted}.",
			TypeName(f.item.MIMEType), r.By, f.typeNames("video/"))
	}
	if r.MaxVideoBytes > 0 && f.item.Bytes > r.MaxVideoBytes {
		f.problem("video_too_large", "The video has {used_bytes}; {by} accepts {limit_bytes}.",
			message.Bytes(f.item.Bytes), r.By, message.Bytes(r.MaxVideoBytes))
	}
	if r.MaxDuration > 0 && f.item.Duration > r.MaxDuration {
		f.problem("video_too_long", "The video lasts {length_seconds}; {by} accepts at most {max_seconds}.",
			tenths(f.item.Duration), r.By, tenths(r.MaxDuration))
	}
	if f.item.Duration > 0 && f.item.Duration < r.MinDuration {
		f.problem("video_too_short", "The video lasts {length_seconds}; {by} requires at least {min_seconds}.",
			tenths(f.item.Duration), r.By, tenths(r.MinDuration))
	}
}

func (f *fitter) animation() {
	r := f.rules
	f.ratio()
	if !f.takes(f.item.MIMEType) {
		f.problem("unfit_animation", "It is an animated {type}, which {by} does not accept. Upload it as {accepted}.",
			TypeName(f.item.MIMEType), r.By, f.typeNames(""))
	}
	if r.MaxImageBytes > 0 && f.item.Bytes > r.MaxImageBytes {
		f.problem("animation_too_large",
			"The animation has {used_bytes}; {by} accepts {limit_bytes}. Dateline does not scale animations.",
			message.Bytes(f.item.Bytes), r.By, message.Bytes(r.MaxImageBytes))
	}
	if width, height := f.scaled(); width < f.item.Width {
		f.problem("animation_too_wide",
			"The animation has {width} × {height} pixels; {by} accepts at most {max_width} × {max_height} of this "+
				"shape. Dateline does not scale animations.",
			f.item.Width, f.item.Height, r.By, width, height)
	}
}

func (f *fitter) document() {
	r := f.rules
	if !f.takes(f.item.MIMEType) {
		f.problem("unfit_type", "It is {type}, which {by} does not accept. Upload it as {accepted}.",
			TypeName(f.item.MIMEType), r.By, f.typeNames("image/"))
	}
	if r.MaxDocumentBytes > 0 && f.item.Bytes > r.MaxDocumentBytes {
		f.problem("document_too_large", "The document has {used_bytes}; {by} accepts {limit_bytes}.",
			message.Bytes(f.item.Bytes), r.By, message.Bytes(r.MaxDocumentBytes))
	}
	if r.MaxDocumentPages > 0 && f.item.Pages > r.MaxDocumentPages {
		f.problem("too_many_pages", "The document has {used} pages; {by} accepts {limit}.", f.item.Pages, r.By,
			r.MaxDocumentPages)
	}
}

func (f *fitter) ratio() {
	if f.item.Width == 0 || f.item.Height == 0 {
		return
	}
	ratio := float64(f.item.Width) / float64(f.item.Height)
	switch {
	case f.rules.MinRatio > 0 && ratio < f.rules.MinRatio:
		f.problem("too_tall", "At {width} × {height} pixels the image is too tall; {by} accepts images of at least "+
			"{min_ratio} (width to height). Crop it.",
			f.item.Width, f.item.Height, f.rules.By, ratioName(f.rules.MinRatio))
	case f.rules.MaxRatio > 0 && ratio > f.rules.MaxRatio:
		f.problem("too_wide", "At {width} × {height} pixels the image is too wide; {by} accepts images of at most "+
			"{max_ratio} (width to height). Crop it.",
			f.item.Width, f.item.Height, f.rules.By, ratioName(f.rules.MaxRatio))
	}
}

// scaled returns the largest size with the image's aspect ratio that meets the rules.
func (f *fitter) scaled() (width, height int) {
	w, h := float64(f.item.Width), float64(f.item.Height)
	scale := 1.0
	if f.rules.MaxWidth > 0 {
		scale = min(scale, float64(f.rules.MaxWidth)/w)
	}
	if f.rules.MaxHeight > 0 {
		scale = min(scale, float64(f.rules.MaxHeight)/h)
	}
	if f.rules.MaxPixels > 0 {
		scale = min(scale, math.Sqrt(float64(f.rules.MaxPixels)/(w*h)))
	}
	if scale >= 1 {
		return f.item.Width, f.item.Height
	}
	width, height = max(1, int(w*scale)), max(1, int(h*scale))
	// Rounding to whole pixels may exceed a limit.
	for f.rules.MaxRatio > 0 && width > 1 && float64(width)/float64(height) > f.rules.MaxRatio {
		width--
	}
	for f.rules.MinRatio > 0 && height > 1 && float64(width)/float64(height) < f.rules.MinRatio {
		height--
	}
	return width, height
}

func (f *fitter) image() {
	f.ratio()
	width, height := f.scaled()
	smaller, fewer := width < f.item.Width, f.rules.MaxImageBytes > 0 && f.item.Bytes > f.rules.MaxImageBytes
	if f.takes(f.item.MIMEType) && !smaller && !fewer {
		return
	}
	spec := Spec{Width: width, Height: height, MaxBytes: f.rules.MaxImageBytes}
	// Drawings stay sharp as PNG; for photos, JPEG is far smaller.
	drawn := f.item.MIMEType == typePNG || f.item.MIMEType == typeGIF
	switch {
	case drawn && f.takes(typePNG):
		spec.MIMEType, spec.OrJPEG = typePNG, f.takes(typeJPEG)
	case f.takes(typeJPEG):
		spec.MIMEType = typeJPEG
	case f.takes(typePNG):
		spec.MIMEType = typePNG
	default:
		f.problem("no_type_fits",
			"It is a {type} image, which {by} does not accept, and it accepts neither JPEG nor PNG.",
			TypeName(f.item.MIMEType), f.rules.By)
		return
	}
	if int64(f.item.Width)*int64(f.item.Height) > maxRenderPixels {
		f.problem("not_convertible",
			"At {width} × {height} pixels the image is too large to be converted here. Upload a smaller one.",
			f.item.Width, f.item.Height)
		return
	}
	if !f.plan.Fits() {
		return
	}
	f.plan.Convert = &spec
	f.describe(spec, smaller, fewer)
}

func (f *fitter) describe(spec Spec, smaller, fewer bool) {
	if smaller {
		f.change("made_smaller", "It is made smaller: from {width} × {height} to {new_width} × {new_height} pixels.",
			f.item.Width, f.item.Height, spec.Width, spec.Height)
	}
	if spec.MIMEType != f.item.MIMEType {
		f.change("type_converted", "It is converted from {type} to {new_type}.", TypeName(f.item.MIMEType),
			TypeName(spec.MIMEType))
	}
	if fewer {
		f.change("compressed", "It is compressed from {used_bytes} to at most {limit_bytes}.",
			message.Bytes(f.item.Bytes), message.Bytes(spec.MaxBytes))
		if spec.OrJPEG {
			f.change("jpeg_if_needed", "Where that is not enough, it becomes a JPEG.")
		}
	}
	if (spec.MIMEType == typeJPEG && f.item.MIMEType != typeJPEG) || (spec.OrJPEG && fewer) {
		f.change("transparency_lost", "Transparent areas become white in a JPEG.")
	}
	f.change("metadata_removed", "Metadata, such as the location, is removed.")
}

// typeNames lists the names of the accepted types.
func (f *fitter) typeNames(prefix string) string {
	var names []string
	for _, t := range f.rules.Types {
		if strings.HasPrefix(t, prefix) && slices.Contains(Accepted(), t) {
			names = append(names, TypeName(t))
		}
	}
	if len(names) == 0 {
		return "something else"
	}
	return strings.Join(names, " or ")
}

// TypeName returns the common name of a MIME type.
func TypeName(mimeType string) string {
	switch mimeType {
	case typeJPEG:
		return "JPEG"
	case typePNG:
		return "PNG"
	case typeGIF:
		return "GIF"
	case typeWebP:
		return "WebP"
	case typeMP4:
		return "MP4"
	case typeMOV:
		return "MOV"
	case typeWebM:
		return "WebM"
	case typePDF:
		return "PDF"
	}
	return mimeType
}

func tenths(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }

// ratioName formats an aspect ratio: 4:5, 1.91:1.
func ratioName(ratio float64) string {
	for below := 1; below <= 16; below++ {
		above := ratio * float64(below)
		if math.Abs(above-math.Round(above)) < 1e-6 {
			return fmt.Sprintf("%.0f:%d", math.Round(above), below)
		}
	}
	return fmt.Sprintf("%.2f:1", ratio)
}
