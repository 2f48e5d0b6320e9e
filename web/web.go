// Package web is what a browser gets.
package web

import (
	_ "embed"
	"html/template"
	"net/http"
)

//go:embed index.html
var index string

// Page is the page at /: where everything is.
type Page struct {
	TemporalUI string
	Sandbox    string
}

// ServeHTTP writes the page.
func (p Page) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	page, err := template.New("index").Parse(index)
	if err != nil {
		http.Error(w, "The page is broken.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = page.Execute(w, p) // the reader may be gone
}
