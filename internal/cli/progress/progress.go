// Package progress shows the progress of long work on standard error: percentage, rate and
// time left. On a terminal it is one line that is redrawn; elsewhere, a line is printed at
// intervals.
package progress

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// Bytes is the unit of amounts of data. Every other unit is the plural noun of what is counted.
const Bytes = "bytes"

const (
	drawInterval  = 200 * time.Millisecond // on a terminal
	printInterval = 10 * time.Second       // elsewhere
	// rateWindow is the time over which the rate is measured. It is shown after minRateTime.
	rateWindow  = 30 * time.Second
	minRateTime = time.Second
)

// eraseLine moves to the first column and erases the line (ECMA-48, 8.3.41 EL).
const eraseLine = "\r\x1b[K"

// Line is the progress of one command, step by step. It is also a writer: text that is
// written to it is not mixed with the line. A nil Line shows nothing. It is safe for
// concurrent use.
type Line struct {
	out   io.Writer
	width func() int // of the terminal; nil: no terminal
	now   func() time.Time

	mu      sync.Mutex
	step    string
	state   State
	samples []sample
	shown   time.Time // when it was drawn last, or when the step began
	drawn   bool      // whether the last line of the terminal is the progress
}

// State is how far a step is.
type State struct {
	Done, Total int64 // Total is 0 if it is unknown
	Unit        string
}

type sample struct {
	at   time.Time
	done int64
}

// New returns a line on w.
func New(w io.Writer) *Line {
	l := &Line{out: w, now: time.Now}
	if f, ok := w.(interface{ Fd() uintptr }); ok {
		fd := int(f.Fd()) //nolint:gosec // file descriptors are small
		if term.IsTerminal(fd) {
			l.width = func() int {
				width, _, err := term.GetSize(fd)
				if err != nil {
					return 80
				}
				return width
			}
		}
	}
	return l
}

// Update records how far a step is. Another name begins the next step.
func (l *Line) Update(step string, s State) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if step != l.step || s.Unit != l.state.Unit {
		l.erase()
		l.step, l.samples, l.shown = step, nil, now
	}
	l.state = s
	l.measure(now)
	if l.width == nil {
		if now.Sub(l.shown) >= printInterval {
			l.shown = now
			_, _ = fmt.Fprintln(l.out, l.text(now))
		}
		return
	}
	if now.Sub(l.shown) >= drawInterval {
		l.shown = now
		l.draw(now)
	}
}

// measure adds a sample, at most one per second, and removes those before the window.
func (l *Line) measure(now time.Time) {
	if n := len(l.samples); n > 0 && now.Sub(l.samples[n-1].at) < time.Second {
		return
	}
	l.samples = append(l.samples, sample{now, l.state.Done})
	for len(l.samples) > 2 && now.Sub(l.samples[1].at) >= rateWindow {
		l.samples = l.samples[1:]
	}
}

// perSecond returns the rate, or 0 if it is not known yet.
func (l *Line) perSecond(now time.Time) float64 {
	if len(l.samples) == 0 {
		return 0
	}
	first := l.samples[0]
	elapsed := now.Sub(first.at)
	if elapsed < minRateTime || l.state.Done <= first.done {
		return 0
	}
	return float64(l.state.Done-first.done) / elapsed.Seconds()
}

// text returns the step, how far it is, its rate and the time left.
func (l *Line) text(now time.Time) string {
	rate := l.perSecond(now)
	parts := []string{l.step + ": " + l.state.String()}
	if rate > 0 {
		parts = append(parts, Amount(int64(math.Round(rate)), l.state.Unit)+"/s")
		if left := l.state.Total - l.state.Done; left > 0 {
			parts = append(parts, duration(float64(left)/rate)+" left")
		}
	}
	return strings.Join(parts, ", ")
}

func (l *Line) draw(now time.Time) {
	text := l.text(now)
	if width := l.width(); width > 0 && len(text) >= width { // a wrapped line cannot be redrawn
		text = text[:width-1]
	}
	_, _ = io.WriteString(l.out, eraseLine+text)
	l.drawn = true
}

func (l *Line) erase() {
	if l.drawn {
		_, _ = io.WriteString(l.out, eraseLine)
		l.drawn = false
	}
}

// Write writes text above the progress. It implements io.Writer.
func (l *Line) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.erase()
	return l.out.Write(text)
}

// End ends the last step and returns how far it is.
func (l *Line) End() State {
	if l == nil {
		return State{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.erase()
	l.step, l.samples = "", nil
	return l.state
}

// Reader counts the bytes that are read from r as a step. Reading fails once ctx is done.
func (l *Line) Reader(ctx context.Context, step string, r io.Reader, total int64) io.Reader {
	return &reader{ctx: ctx, line: l, step: step, from: r, state: State{Total: total, Unit: Bytes}}
}

type reader struct {
	ctx   context.Context
	line  *Line
	step  string
	from  io.Reader
	state State
}

// Read implements io.Reader.
func (r *reader) Read(to []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.from.Read(to)
	r.state.Done += int64(n)
	r.line.Update(r.step, r.state)
	return n, err
}

// String returns for example "45% (450 of 1,000 rows)", or "450 rows" if the total is unknown.
// Before the first step it is "0%".
func (s State) String() string {
	if s.Unit == "" {
		return "0%"
	}
	if s.Total <= 0 {
		return Amount(s.Done, s.Unit)
	}
	if s.Unit == Bytes {
		return fmt.Sprintf("%d%% (%s of %s)", s.percent(), size(s.Done), size(s.Total))
	}
	return fmt.Sprintf("%d%% (%s of %s)", s.percent(), number(s.Done), Amount(s.Total, s.Unit))
}

// percent rounds down: only completed work is 100%.
func (s State) percent() int64 { return min(100, int64(float64(s.Done)/float64(s.Total)*100)) }

// Amount returns for example "1,000 rows" or "4.2 MB".
func Amount(n int64, unit string) string {
	if unit == Bytes {
		return size(n)
	}
	return number(n) + " " + unit
}

// number groups the digits of a number.
func number(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func size(n int64) string {
	const step = 1000
	value, unit := float64(n), 0
	for ; value >= step-0.05 && unit < 4; unit++ {
		value /= step
	}
	if unit == 0 {
		return strconv.FormatInt(n, 10) + " B"
	}
	return strconv.FormatFloat(value, 'f', 1, 64) + " " + []string{"", "kB", "MB", "GB", "TB"}[unit]
}

// duration returns for example "35 s", "4 min" or "2 h 5 min", rounded up.
func duration(seconds float64) string {
	const day = 24 * 60 * 60
	switch s, m := int64(math.Ceil(seconds)), int64(math.Ceil(seconds/60)); {
	case seconds > 100*day:
		return "more than 100 days"
	case s < 60:
		return strconv.FormatInt(s, 10) + " s"
	case m < 60:
		return strconv.FormatInt(m, 10) + " min"
	default:
		return fmt.Sprintf("%d h %d min", m/60, m%60)
	}
}
