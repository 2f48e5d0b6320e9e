// Package idempotency names requests, so that repeating one is harmless.
package idempotency

import "github.com/google/uuid"

// Key makes the repetition of a creating request harmless: the first one to
// commit its Key decides, later ones get its resource back.
type Key struct {
	UserID      uuid.UUID // who sent it: keys of different users never meet
	Key         string    // empty: none given
	RequestHash []byte    // of everything that makes two requests the same
}
