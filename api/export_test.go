package api

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
