// Package option replaces the options of Google's APIs, see ../../README.md.
package option

import "golang.org/x/oauth2"

// ClientOption is an option of a client.
type ClientOption struct{}

// WithTokenSource has no effect.
func WithTokenSource(oauth2.TokenSource) ClientOption { return ClientOption{} }
