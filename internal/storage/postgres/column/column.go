// Package column converts between Go values and columns.
package column

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/infra/message"
	"dateline/internal/infra/utm"
)

// NewID returns the id of a new row. Ids ascend with time.
func NewID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// Time returns a time in UTC, and the zero time for null.
func Time(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// List returns an empty list for nil, which would be null.
func List[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// Object encodes a map. A nil map becomes {}, because jsonb || null would make an array.
func Object(m map[string]any) ([]byte, error) {
	if m == nil {
		m = map[string]any{}
	}
	return json.Marshal(m)
}

// Message returns nil for no message.
func Message(m message.Message) []byte {
	if m.Text == "" {
		return nil
	}
	raw, _ := json.Marshal(m) // strings and numbers
	return raw
}

// ReadMessage reads what Message wrote.
func ReadMessage(raw []byte) (m message.Message) {
	_ = json.Unmarshal(raw, &m)
	return m
}

// UTM encodes UTM parameters.
func UTM(params utm.Params) json.RawMessage {
	if len(params) == 0 {
		return json.RawMessage("{}")
	}
	raw, _ := json.Marshal(params) // strings
	return raw
}

// ReadUTM reads a column that the database checks to be an object.
func ReadUTM(raw []byte) (params utm.Params) {
	_ = json.Unmarshal(raw, &params)
	return params
}

// Engagement returns nil if nothing was measured.
func Engagement(engaged, scrolled []int64) *counter.EngagementDelta {
	if len(engaged) == 0 {
		return nil
	}
	var e counter.EngagementDelta
	copy(e.Engaged[:], engaged)
	copy(e.Scrolled[:], scrolled)
	return &e
}
