package config

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Help prints every setting with its default, section by section.
func Help(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString("Settings come from the environment, else from a file of KEY=value lines (--config, " + FileVariable +
		", or ./" + DefaultFile + "), else from the defaults below.\n")
	each(func(section string) {
		fmt.Fprintf(&b, "\n%s\n", section)
	}, func(s Setting) {
		fmt.Fprintf(&b, "  %s\n      %s\n      accepts: %s\n", s.Name, s.Help, s.Accepts)
		if d := s.shownDefault(); d != "" {
			fmt.Fprintf(&b, "      default: %s\n", d)
		}
	})
	_, err := b.WriteTo(w)
	return err
}

// Example prints a file with every setting commented out at its default.
func Example(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString("# Settings of Dateline. Copy to " + DefaultFile + " and uncomment what you change.\n" +
		"# The environment is stronger than this file. Put values with spaces, # or $ in single quotes.\n")
	each(func(section string) {
		fmt.Fprintf(&b, "\n# ---- %s ----\n", section)
	}, func(s Setting) {
		fmt.Fprintf(&b, "\n# %s\n# Accepts: %s.\n", s.Help, s.Accepts)
		if s.DefaultText != "" {
			fmt.Fprintf(&b, "# Default: %s.\n", s.DefaultText)
		}
		fmt.Fprintf(&b, "#%s=%s\n", s.Name, s.Default)
	})
	_, err := b.WriteTo(w)
	return err
}

func each(section func(string), row func(Setting)) {
	last := ""
	for _, s := range settings() {
		if s.Section != last {
			last = s.Section
			section(last)
		}
		row(s)
	}
}

func (s Setting) shownDefault() string {
	if s.DefaultText != "" {
		return s.DefaultText
	}
	return strings.TrimSpace(s.Default)
}
