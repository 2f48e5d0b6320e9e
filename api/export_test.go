package api

import "dateline/internal/identity/workspace"

// Ruled reports whether the access table has an operation and whether it is public.
func Ruled(operationID string) (public, known bool) {
	a, known := accessTable()[operationID]
	return a.public, known
}

// RuledOperations lists the operations of the access table.
func RuledOperations() (ids []string) {
	for id := range accessTable() {
		ids = append(ids, id)
	}
	return ids
}

// MinRole returns the least role of all operations that require a scope.
func MinRole(scope workspace.Scope) workspace.Role {
	least := workspace.Role("")
	for _, a := range accessTable() {
		if a.scope == scope && !a.public && (least == "" || least.AtLeast(a.least)) {
			least = a.least
		}
	}
	return least
}

// PlainIntegers exposes plainIntegers, which normalizes integers in bodies.
func PlainIntegers(raw []byte) []byte { return plainIntegers(raw) }
