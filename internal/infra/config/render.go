package config

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Help prints all settings with their defaults, by section.
func Help(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString("Settings are read from the environment, then from a file of KEY=value lines (--config, " +
		FileVariable +
		" or ./" + DefaultFile + "). The environment takes precedence.\n")
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

// Example prints a settings file with all settings commented out at their defaults.
func Example(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString("# Settings of Dateline. Copy this file to " + DefaultFile + " and uncomment what you change.\n" +
		"# Environment variables take precedence over this file. Quote values that contain spaces, # or $ with " +
		"single quotes.\n")
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
