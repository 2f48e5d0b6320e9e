// Package webpage renders the HTML pages outside the dashboard: login, account connection,
// shared reports and their errors. They have the design, color schemes and languages of the dashboard,
// and no scripts.
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

// Page is the content of a page.
type Page struct {
	Brand     string // default: Dateline
	Title     string
	Error     string // shown to the user
	Texts     []string
	HasTables bool
	Style     string        // of the body; its hash must be in the policy, see StyleSource
	Body      template.HTML // below the texts
}

// StyleSource returns the Content-Security-Policy source of the style, with that of a page's
// body. The icon is a data: URL.
func StyleSource(body ...string) string {
	return csp.StyleHash("<style>" + style + strings.Join(body, "") + "</style>")
}

// HTML renders a page.
func (p Preferences) HTML(page Page) (string, error) {
	layoutTemplate, err := template.New("page").Parse(layout)
	if err != nil {
		return "", fmt.Errorf("page layout: %w", err)
	}
	if page.Brand == "" {
		page.Brand = "Dateline"
	}
	var out strings.Builder
	err = layoutTemplate.Execute(&out, struct {
		Page
		Preferences
		Style template.CSS
		Icon  template.URL
	}{
		page, p, template.CSS(style + page.Style), //nolint:gosec // embedded files
		template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(icon))), //nolint:gosec // embedded files
	})
	return out.String(), err
}

// Body executes a template, which escapes the data.
func (p Preferences) Body(text string, data any) (template.HTML, error) {
	body, err := template.New("body").Parse(text)
	if err != nil {
		return "", fmt.Errorf("page body: %w", err)
	}
	var out strings.Builder
	err = body.Execute(&out, data)
	return template.HTML(out.String()), err //nolint:gosec // escaped by the template
}
