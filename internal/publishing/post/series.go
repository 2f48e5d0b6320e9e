package post

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/infra/message"
)

// SeriesStatus is the state of a series.
type SeriesStatus string

// The states of a series. An ended one stays readable and creates no more posts.
const (
	SeriesActive SeriesStatus = "active"
	SeriesPaused SeriesStatus = "paused"
	SeriesEnded  SeriesStatus = "ended"
)

// Series is a post that recurs. Its occurrences are posts of their own.
type Series struct {
	ID               uuid.UUID
	WorkspaceID      uuid.UUID
	UserID           uuid.UUID
	Rule             string // RFC 5545, as package recur reads it
	Starts           string // on the wall clock, e.g. 2026-12-24T18:00:00
	TimeZone         string // IANA
	Template         json.RawMessage
	ByAuthor         bool // its posts are an author's words
	Status           SeriesStatus
	TemplateRevision int64     // every change of what or when
	CheckedUntil     time.Time // occurrences up to here are taken care of
	LastError        message.Messages
	LastErrorAt      *time.Time
	Version          int64 // every change by a person
	CreatedAt        time.Time
	UpdatedAt        time.Time
}

// Occurrence links a post to the series that created it.
type Occurrence struct {
	SeriesID         uuid.UUID
	Name             string // its time on the wall clock of the series
	TemplateRevision int64  // version of the series that it was created from
	IsUnmodified     bool   // only its series has changed it
}

// SeriesException is the reason why an occurrence is not a post.
type SeriesException struct {
	Occurrence string
	Skipped    bool // otherwise missed
	Reason     message.Messages
}

// SeriesHasEnded refuses to change a series that has ended.
func SeriesHasEnded() *apperr.Error {
	return &apperr.Error{
		Kind: apperr.KindConflict, Code: "series_ended",
		Message: "This series has ended and cannot be changed. Create a new one.",
	}
}
