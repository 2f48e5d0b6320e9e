// Package webpage renders the pages outside the dashboard: logging in, connecting
// an account, and what went wrong there. They have the dashboard's design, color
// schemes and languages, and no scripts.
package webpage

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"strings"

	"dateline/internal/infra/csp"
)

//go:embed layout.html
var layout string

//go:embed page.css
var style string

//go:embed icon.svg
var icon string

// Page is what a page shows.
type Page struct {
	Brand string // whose page it is; empty: Dateline
	Title string
	Error string // what the reader has to correct
	Texts []string
	Body  template.HTML // below the texts
}

// StyleSource allows the pages' style in a Content-Security-Policy. The icon is a
// data: URL.
func StyleSource() string { return csp.StyleHash("<style>" + style + "</style>") }

// HTML writes a page for a reader.
func (l Look) HTML(p Page) (string, error) {
	page, err := template.New("page").Parse(layout)
	if err != nil {
		return "", fmt.Errorf("page layout: %w", err)
	}
	if p.Brand == "" {
		p.Brand = "Dateline"
	}
	var out strings.Builder
	err = page.Execute(&out, struct {
		Page
		Look
		Style template.CSS
		Icon  template.URL
	}{p, l, template.CSS(style), template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(icon)))}) //nolint:gosec // both are files of the program
	return out.String(), err
}

// Body fills a template in, which escapes what it is given.
func (l Look) Body(text string, data any) (template.HTML, error) {
	body, err := template.New("body").Parse(text)
	if err != nil {
		return "", fmt.Errorf("page body: %w", err)
	}
	var out strings.Builder
	err = body.Execute(&out, data)
	return template.HTML(out.String()), err //nolint:gosec // the template has escaped it
}
