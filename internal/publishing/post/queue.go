package post

import (
	"slices"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
)

// QueueMove moves a post of a queue to another place. The posts between the two places
// move by one slot; the slots stay the same.
type QueueMove struct {
	GroupID uuid.UUID
	PostID  uuid.UUID
	Before  uuid.UUID // the post that follows it then; Nil: it becomes the last one
}

// Reorder returns the new times of the posts whose place changes. queue has the posts
// in the order of their times. It returns false if the queue lacks a post that the move
// names.
func (m QueueMove) Reorder(queue []QueuedPost) (moved []QueuedPost, ok bool) {
	index := func(all []QueuedPost, id uuid.UUID) int {
		return slices.IndexFunc(all, func(q QueuedPost) bool { return q.PostID == id })
	}
	from := index(queue, m.PostID)
	if from < 0 {
		return nil, false
	}
	if m.Before == m.PostID {
		return nil, true
	}
	order := slices.Delete(slices.Clone(queue), from, from+1)
	to := len(order)
	if m.Before != uuid.Nil {
		if to = index(order, m.Before); to < 0 {
			return nil, false
		}
	}
	order = slices.Insert(order, to, queue[from])
	for i, q := range order {
		if q.PostID != queue[i].PostID {
			q.At = queue[i].At
			moved = append(moved, q)
		}
	}
	return moved, true
}

// NotInQueue refuses to reorder posts that the queue does not have.
func NotInQueue() *apperr.Error {
	return &apperr.Error{
		Kind: apperr.KindConflict, Code: "not_in_queue",
		Message: "The queue no longer has this post, or it is about to be published. Load the queue again.",
	}
}

// EarlyReply refuses an order in which a reply would come before its parent.
func EarlyReply() *apperr.Error {
	return &apperr.Error{
		Kind: apperr.KindConflict, Code: "reply_before_parent",
		Message: "A reply would be published before the post that it replies to. Choose another place.",
	}
}
