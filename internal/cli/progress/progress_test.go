package progress

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
)

// clock is a clock that a test moves.
type clock struct{ at time.Time }

func (c *clock) advance(d time.Duration) { c.at = c.at.Add(d) }

func newLine(width int) (*Line, *bytes.Buffer, *clock) {
	out, c := &bytes.Buffer{}, &clock{time.Date(2026, 11, 29, 8, 0, 0, 0, time.UTC)}
	l := New(out)
	l.now = func() time.Time { return c.at }
	if width > 0 {
		l.width = func() int { return width }
	}
	return l, out, c
}

func TestLine_RedrawsOneLineOfATerminal(t *testing.T) {
	l, out, c := newLine(80)
	rows := func(done int64) { l.Update("Backing up", State{done, 1000, "rows"}) }
	rows(0)
	c.advance(100 * time.Millisecond)
	rows(10) // too early to be drawn
	if out.Len() > 0 {
		t.Errorf("got %q after 100 ms, want nothing", out.String())
	}
	c.advance(300 * time.Millisecond)
	rows(100) // no rate yet
	c.advance(1600 * time.Millisecond)
	rows(200)
	c.advance(time.Second)
	l.Update("Verifying", State{5_000_000, 0, Bytes})
	c.advance(2 * time.Second)
	l.Update("Verifying", State{9_200_000, 0, Bytes})
	if _, err := l.Write([]byte("a log line\n")); err != nil {
		t.Fatal(err)
	}
	l.End()
	l.End()
	want := strings.Join([]string{
		"Backing up: 10% (100 of 1,000 rows)",
		"Backing up: 20% (200 of 1,000 rows), 100 rows/s, 8 s left",
		"", // the next step
		"Verifying: 9.2 MB, 2.1 MB/s",
		"a log line\n",
	}, eraseLine)
	if got := out.String(); got != eraseLine+want {
		t.Errorf("got  %q\nwant %q", got, eraseLine+want)
	}
}

func TestLine_PrintsLinesAtIntervalsElsewhere(t *testing.T) {
	l, out, c := newLine(0)
	for done := range int64(26) { // one per second
		l.Update("Restoring", State{done, 100, "files"})
		c.advance(time.Second)
	}
	l.End()
	const want = "Restoring: 10% (10 of 100 files), 1 files/s, 2 min left\n" +
		"Restoring: 20% (20 of 100 files), 1 files/s, 2 min left\n"
	if got := out.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLine_DoesNotWrap(t *testing.T) {
	l, out, c := newLine(20)
	l.Update("Restoring everything", State{0, 100, "files"})
	c.advance(time.Second)
	l.Update("Restoring everything", State{1, 100, "files"})
	if got, want := out.String(), eraseLine+"Restoring everythin"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLine_MeasuresTheRateOfTheLastHalfMinute(t *testing.T) {
	l, _, c := newLine(80)
	var done int64
	for range 60 {
		done += 1000
		l.Update("Importing", State{done, 0, "rows"})
		c.advance(time.Second)
	}
	for range 40 {
		done += 10
		l.Update("Importing", State{done, 0, "rows"})
		c.advance(time.Second)
	}
	if got := l.perSecond(c.at); got > 10 {
		t.Errorf("got %.1f rows/s after 40 s at 10 rows/s", got)
	}
}

func TestLine_Nil(t *testing.T) {
	var l *Line
	l.Update("Importing", State{1, 2, "rows"})
	text, err := io.ReadAll(l.Reader(t.Context(), "Reading", strings.NewReader("text"), 4))
	if got := l.End(); got != (State{}) || err != nil || string(text) != "text" {
		t.Errorf("got %+v, %q, %v, want the text and no progress", got, text, err)
	}
}

func TestReader_CountsBytes(t *testing.T) {
	l, _, _ := newLine(0)
	if _, err := io.Copy(io.Discard, l.Reader(t.Context(), "Reading", strings.NewReader("text"), 8)); err != nil {
		t.Fatal(err)
	}
	if got, want := l.End(), (State{4, 8, Bytes}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestTexts(t *testing.T) {
	for got, want := range map[string]string{
		State{999, 1000, "rows"}.String():       "99% (999 of 1,000 rows)",
		State{1999, 2000, "rows"}.String():      "99% (1,999 of 2,000 rows)",
		State{1000, 1000, "rows"}.String():      "100% (1,000 of 1,000 rows)",
		State{1234567, 0, "rows"}.String():      "1,234,567 rows",
		State{512, 2048, Bytes}.String():        "25% (512 B of 2.0 kB)",
		Amount(999_960, Bytes):                  "1.0 MB",
		Amount(7_200_000_000, Bytes):            "7.2 GB",
		duration(0.3):                           "1 s",
		duration(59):                            "59 s",
		duration(61):                            "2 min",
		duration(2*60*60 + 5*60):                "2 h 5 min",
		duration(1e30):                          "more than 100 days",
		Amount(-1234, "rows"):                   "-1,234 rows",
		State{Done: 0, Unit: "rows"}.String():   "0 rows",
		State{Done: 7, Unit: "files"}.String():  "7 files",
		State{Done: 12, Unit: "files"}.String(): "12 files",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
