package remote

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/rivo/uniseg"

	"dateline/api/spec"
)

// table prints rows in columns. Control characters in cells are removed, because texts
// of posts and pages may contain terminal escape sequences.
func table(w io.Writer, header []string, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, row := range append([][]string{header}, rows...) {
		cells := make([]string, len(row))
		for j, cell := range row {
			cells[j] = plain(cell)
		}
		if i == 0 {
			cells = strings.Split(strings.ToUpper(strings.Join(cells, "\t")), "\t")
		}
		if _, err := fmt.Fprintln(t, strings.Join(cells, "\t")); err != nil {
			return err
		}
	}
	return t.Flush()
}

// printList prints a table, or a sentence if it has no rows.
func (s *session) printList(header []string, rows [][]string, empty string) error {
	if len(rows) == 0 {
		return s.say("%s", empty)
	}
	return table(s.out, header, rows)
}

// plain returns text in one line without control characters.
func plain(text string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)), " ")
}

// shorten returns the beginning of a text in one line.
func shorten(text string, limit int) string {
	text = plain(text)
	if uniseg.GraphemeClusterCount(text) <= limit {
		return text
	}
	var b strings.Builder
	g := uniseg.NewGraphemes(text)
	for i := 0; i < limit-1 && g.Next(); i++ {
		b.WriteString(g.Str())
	}
	return strings.TrimSpace(b.String()) + "…"
}

func number(n *int64) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatInt(*n, 10)
}

func percent(share *float64) string {
	if share == nil {
		return "-"
	}
	return strconv.FormatFloat(*share*100, 'f', 0, 64) + "%"
}

// at returns a time in a zone, or "-".
func at(t *time.Time, zone *time.Location) string {
	if t == nil || t.IsZero() {
		return "-"
	}
	return t.In(zone).Format("Mon 2006-01-02 15:04")
}

func noteText(n *spec.Note) string {
	if n == nil {
		return ""
	}
	return n.Message
}

func text[T ~string](s *T) string {
	if s == nil {
		return ""
	}
	return string(*s)
}
