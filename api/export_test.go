package api

import "dateline/internal/identity/workspace"

// Ruled says whether the access table has an operation, and whether it is for
// everybody.
func Ruled(operationID string) (public, known bool) {
	a, known := accessTable()[operationID]
	return a.public, known
}

// RuledOperations lists what the access table has.
func RuledOperations() (ids []string) {
	for id := range accessTable() {
		ids = append(ids, id)
	}
	return ids
}

// MinRole is the least role of all operations that ask for a scope.
func MinRole(scope workspace.Scope) workspace.Role {
	least := workspace.Role("")
	for _, a := range accessTable() {
		if a.scope == scope && !a.public && (least == "" || least.AtLeast(a.least)) {
			least = a.least
		}
	}
	return least
}

// PlainIntegers is how bodies are read.
func PlainIntegers(raw []byte) []byte { return plainIntegers(raw) }
