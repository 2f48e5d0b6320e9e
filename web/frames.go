package web

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"dateline/internal/infra/webpage"
	"dateline/platforms/network"
)

// The frames of networks are those of the composer: the same styles, the same looks.
var (
	//go:embed src/pages/compose/frames/frames.css
	frameStyle string
	//go:embed src/pages/compose/frames/looks.json
	frameLooks []byte
)

// frameLook is what distinguishes the posts of a network, see looks.ts.
type frameLook struct {
	Layout   string `json:"layout"`
	Card     string `json:"card"`
	IsSquare bool   `json:"isSquare"`
}

func frameLookOf(name string) (frameLook, error) {
	var looks map[string]frameLook
	if err := json.Unmarshal(frameLooks, &looks); err != nil {
		return frameLook{}, fmt.Errorf("looks of networks: %w", err)
	}
	if look, ok := looks[name]; ok {
		return look, nil
	}
	return frameLook{Layout: "header", Card: "large"}, nil
}

// framesStyle returns the style of frames for a page without the dashboard's attribute of
// the color scheme: it is dark if that was chosen, or if the device prefers it.
func framesStyle() string {
	const dark = `[data-mantine-color-scheme="dark"]`
	return strings.ReplaceAll(frameStyle, dark, ":root[data-scheme=dark]") + "@media (prefers-color-scheme: dark) {" +
		strings.ReplaceAll(frameStyle, dark, ":root:not([data-scheme=light])") + "}"
}

// Frame is a post as a network shows it on an account.
type Frame struct {
	Network                string // its identifier
	Title                  string
	Name, Handle, Initials string
	Time                   string
	Look                   frameLook
	segments               []FrameSegment
}

// FramePart is what the template of a part needs.
type FramePart struct {
	FrameSegment
	Layout, Look, Secret string
}

// Parts returns the parts of the post; secret is the path of its files.
func (f Frame) Parts(secret string) []FramePart {
	out := make([]FramePart, len(f.segments))
	for i, s := range f.segments {
		out[i] = FramePart{s, f.Look.Layout, f.Look.Card, secret}
	}
	return out
}

// FrameSegment is one part of the post.
type FrameSegment struct {
	Runs     []FrameRun
	Files    []FrameFile
	Grid     string // the number of files, or "many"
	Card     *FrameCard
	Threaded bool // another one follows
}

// FrameRun is a piece of the text.
type FrameRun struct {
	Text, URL string
	IsSpan    bool // marked like a link; without a URL it leads nowhere
}

// FrameCard is a linked page below the text.
type FrameCard struct{ URL, Site string }

// FrameFile is a file of a part.
type FrameFile struct {
	ID, Description, Name string
	IsVideo, IsDocument   bool
}

// NewFrame returns the frame of a post on an account, without its parts.
func NewFrame(look webpage.Preferences, id, title, handle, name string, at time.Time) (Frame, error) {
	own, err := frameLookOf(id)
	handle = "@" + strings.TrimPrefix(handle, "@")
	if name == "" {
		name, _, _ = strings.Cut(handle[1:], "@")
	}
	f := Frame{
		Network: id, Title: title, Name: name, Handle: handle, Initials: initials(name), Time: look.ShortTime(at),
		Look: own,
	}
	if own.Layout == "bubble" {
		f.Time = at.Format("15:04")
	}
	return f, err
}

// Add adds a part of the post. Its text is not folded: who approves it reads all of it.
func (f *Frame) Add(p network.Preview, files []FrameFile) {
	s := FrameSegment{Files: files, Grid: strconv.Itoa(len(files))}
	if len(files) > 4 {
		s.Grid = "many"
	}
	at := 0
	for _, span := range p.Spans {
		run := FrameRun{Text: p.Text[span.Start:span.End], IsSpan: true}
		if span.Kind == network.SpanLink && isWebAddress(span.Target) {
			run.URL = span.Target
		}
		s.Runs = append(s.Runs, FrameRun{Text: p.Text[at:span.Start]}, run)
		at = span.End
	}
	s.Runs = append(s.Runs, FrameRun{Text: p.Text[at:]})
	if p.Card != "" && len(files) == 0 {
		s.Card = &FrameCard{URL: p.Card, Site: p.Card}
		if u, err := url.Parse(p.Card); err == nil && u.Hostname() != "" {
			s.Card.Site = strings.TrimPrefix(u.Hostname(), "www.")
		}
	}
	if n := len(f.segments); n > 0 {
		f.segments[n-1].Threaded = true
	}
	f.segments = append(f.segments, s)
}

func isWebAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https")
}

// initials returns one or two initials of a name: of Vietnamese names, the last two words.
func initials(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	var out strings.Builder
	for _, word := range words[max(0, len(words)-2):] {
		out.WriteString(string([]rune(word)[:1]))
	}
	return strings.ToUpper(out.String())
}
