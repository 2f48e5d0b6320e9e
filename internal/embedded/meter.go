package embedded

import (
	"fmt"
	"io"
	"os"
)

// meter prints progress: one updating line on a terminal, otherwise a line per milestone.
type meter struct {
	w        io.Writer
	terminal bool
	dirty    bool // the updating line is visible
}

func newMeter(w io.Writer) *meter {
	m := &meter{w: w}
	if f, ok := w.(*os.File); ok {
		info, err := f.Stat()
		m.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return m
}

// show prints the progress; without a terminal only at milestones.
func (m *meter) show(text string, milestone bool) {
	if m.terminal {
		fmt.Fprintf(m.w, "\r\x1b[K  %s", text) // Back to the start of the line, and clear it.
		m.dirty = true
	} else if milestone {
		fmt.Fprintf(m.w, "  %s\n", text)
	}
}

// end clears the updating line and prints a last line, if text is not empty.
func (m *meter) end(text string) {
	if m.dirty {
		fmt.Fprint(m.w, "\r\x1b[K")
		m.dirty = false
	}
	if text != "" {
		fmt.Fprintf(m.w, "  %s\n", text)
	}
}
