package network

import "context"

// MentionFinder is a Network whose accounts can be searched for while a text is written.
type MentionFinder interface {
	// FindMentions returns at most limit accounts that fit the beginning of a name or a
	// handle, best first. It has no effect at the network.
	FindMentions(ctx context.Context, account Account, query string, limit int) ([]Mention, error)
}

// Mention is an account that a text can mention.
type Mention struct {
	Handle    string // as a text mentions it, with @
	Name      string // display name; can be empty
	AvatarURL string // can be empty
}
