package timezone

// Compiled returns a compiled zone of the release.
func Compiled(name string) ([]byte, error) { return Open("").read(name) }
