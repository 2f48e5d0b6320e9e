package pgsearch

// Rotate is rotate.
func Rotate(v []float32) []float32 { return rotate(v) }
