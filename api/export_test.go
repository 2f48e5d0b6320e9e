package api

import (
	"github.com/getkin/kin-openapi/openapi3"

	"dateline/internal/identity/workspace"
)

// CheckAccess returns what readAccess finds wrong.
func CheckAccess(doc *openapi3.T) error {
	_, err := readAccess(doc)
	return err
}

// MinRole returns the least role of all operations that require a scope.
func MinRole(doc *openapi3.T, scope workspace.Scope) (least workspace.Role, err error) {
	table, err := readAccess(doc)
	for _, a := range table {
		if a.scope == scope && !a.public && (least == "" || least.AtLeast(a.least)) {
			least = a.least
		}
	}
	return least, err
}

// PlainIntegers exposes plainIntegers, which normalizes integers in bodies.
func PlainIntegers(raw []byte) []byte { return plainIntegers(raw) }
