// Package iterator replaces the iterators of Google's APIs, see ../../README.md.
package iterator

import "errors"

// Done is returned at the end of a list.
var Done = errors.New("no more items in iterator")
