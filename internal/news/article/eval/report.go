package eval

import (
	"bytes"
	_ "embed"
	"html/template"
	"io"
	"strings"
	"time"

	"golang.org/x/net/html"

	"dateline/internal/news/article/score"
)

//go:embed report.html
var reportHTML string

// WriteReport writes an HTML page that shows pages of the inspected half with their
// ground truth and the extracted text side by side.
func WriteReport(w io.Writer, pages []Page) error {
	t, err := template.New("report").Funcs(template.FuncMap{
		"source": visibleText,
		"day": func(t time.Time) string {
			if t.IsZero() {
				return ""
			}
			return t.Format("2006-01-02 15:04")
		},
		"join":  func(s []string) string { return strings.Join(s, ", ") },
		"lines": func(truth, text string) []reportLine { return compareLines(truth, text) },
	}).Parse(reportHTML)
	if err != nil {
		return err
	}
	return t.Execute(w, pages)
}

// reportLine is a line of a text; In reports that the other text has most of its words
// in this order.
type reportLine struct {
	Text string
	In   bool
}

// compareLines marks the lines of text that are also in other.
func compareLines(other, text string) []reportLine {
	known := " " + strings.Join(score.Words(strings.ToLower(other)), " ") + " "
	var out []reportLine
	for line := range strings.SplitSeq(text, "\n") {
		words := score.Words(strings.ToLower(line))
		if strings.TrimSpace(line) == "" {
			continue
		}
		hits, all := 0, 0
		for i := 0; i < len(words); i += 4 {
			all++
			if strings.Contains(known, " "+strings.Join(words[i:min(len(words), i+4)], " ")+" ") {
				hits++
			}
		}
		out = append(out, reportLine{line, 2*hits > all})
	}
	return out
}

// visibleText returns the text of a page, one line per block.
func visibleText(page []byte) string {
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return ""
	}
	var b strings.Builder
	for n := range doc.Descendants() {
		if n.Type != html.TextNode || n.Parent.Data == "script" || n.Parent.Data == "style" ||
			n.Parent.Data == "noscript" {
			continue
		}
		if s := strings.Join(strings.Fields(n.Data), " "); s != "" {
			b.WriteString(s + "\n")
		}
	}
	return b.String()
}
