package embedded

import (
	"fmt"
	"io"
	"os"
)

// meter shows progress: on a terminal one line that changes, elsewhere a line now and then.
type meter struct {
	w        io.Writer
	terminal bool
	dirty    bool // the changing line is on the screen
}

func newMeter(w io.Writer) *meter {
	m := &meter{w: w}
	if f, ok := w.(*os.File); ok {
		info, err := f.Stat()
		m.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return m
}

// show shows a state. Off a terminal it appears only at a milestone.
func (m *meter) show(text string, milestone bool) {
	if m.terminal {
		fmt.Fprintf(m.w, "\r\x1b[K  %s", text) // Back to the start of the line, and clear it.
		m.dirty = true
	} else if milestone {
		fmt.Fprintf(m.w, "  %s\n", text)
	}
}

// end leaves the changing line and prints a last one, if it is not empty.
func (m *meter) end(text string) {
	if m.dirty {
		fmt.Fprint(m.w, "\r\x1b[K")
		m.dirty = false
	}
	if text != "" {
		fmt.Fprintf(m.w, "  %s\n", text)
	}
}
