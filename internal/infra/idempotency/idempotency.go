// Package idempotency defines the key that makes repeated requests safe.
package idempotency

import "github.com/google/uuid"

// Key identifies a request that creates a resource. The first request to commit the key
// creates it; repetitions return the same resource.
type Key struct {
	UserID      uuid.UUID // sender; keys are scoped to users
	Key         string    // empty if the request has none
	RequestHash []byte    // of the parts that must be equal in a repetition
}
