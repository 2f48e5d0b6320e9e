package web

import (
	_ "embed"

	"dateline/internal/infra/webpage"
)

//go:embed connect.html
var connect string

// Connection is the page for a user who returns from a network outside of the
// dashboard: it shows the result, or offers accounts to choose.
type Connection struct {
	Look      webpage.Preferences
	Title     string
	Message   string
	Problem   string // with the choice that was sent
	Choice    string // id of a choice to make; "" if there is none
	Key       string // proves the right to make it
	Accounts  []Candidate
	Dashboard bool // there is one to go to
}

// Candidate is one account to choose.
type Candidate struct {
	ID, Handle, Name, Kind string
}

// HTML writes the page.
func (c Connection) HTML() (string, error) {
	body, err := c.Look.Body(connect, struct {
		Connection
		Connect, Leave string
	}{
		c, c.Look.Translate(webpage.Text{EN: "Connect", VI: "Kết nối"}),
		c.Look.Translate(webpage.Text{EN: "Open the dashboard", VI: "Mở trang quản lý"}),
	})
	if err != nil {
		return "", err
	}
	return c.Look.HTML(webpage.Page{Title: c.Title, Error: c.Problem, Texts: []string{c.Message}, Body: body})
}
