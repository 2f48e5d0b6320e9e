package web

import (
	_ "embed"
	"html/template"
	"strings"

	"dateline/internal/csp"
)

//go:embed connect.html
var connect string

// Connection is the page for somebody who comes back from a network: it says how
// it went, or lets them choose accounts.
type Connection struct {
	Title    string
	Message  string
	Choice   string // id of a choice to make; empty: there is none
	Key      string // proves the right to make it
	Accounts []Candidate
}

// Candidate is one account to choose.
type Candidate struct {
	ID, Handle, Name, Kind string
}

// ConnectionStyle is the source that allows the page's style in a
// Content-Security-Policy.
func ConnectionStyle() string { return csp.StyleHash(connect) }

// HTML writes the page.
func (c Connection) HTML() (string, error) {
	page, err := template.New("connect").Parse(connect)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = page.Execute(&out, c)
	return out.String(), err
}
