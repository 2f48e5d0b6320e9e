// Package matching decides whether a post that a network lists is the post whose
// response was lost.
//
// A server can rewrite the text, list posts late, or list posts that other users
// and programs published on the same account. A post is therefore found only if
// its canonical text, attachments and reply target are equal. It is absent only
// if every listed post is clearly different. Anything in between is unclear, and
// nothing may be sent again.
package matching

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"dateline/internal/infra/message"
	"dateline/platforms/network"
)

// Key returns a hash that is equal for posts that look equal in a listing:
// those with the same canonical text, number of attachments and reply target.
func Key(s network.Submission) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%s", canonical(s.Text),
		max(len(s.MediaIDs), len(s.Media)), s.ReplyTo))
	return sum[:]
}

// Post is a listed post and its comparison with the submission.
type Post struct {
	Receipt          network.Receipt
	Verdict          Verdict
	MediaCountEqual  bool // the number of attachments is equal
	ReplyTargetEqual bool // the reply target is equal
	// OptionsDiffer means that the post does not show the options of the
	// submission. Networks change some of them, so that it may still be the post.
	OptionsDiffer bool
	// HasUploadedMedia means that the post has an attachment that was uploaded
	// for this submission only.
	HasUploadedMedia bool
}

// Search collects the listed posts and decides which of them is the lost one.
type Search struct {
	window  network.Window
	seen    int
	proven  []network.Receipt
	matches []network.Receipt
	unclear []network.Receipt
}

// New starts a search.
func New(window network.Window) *Search { return &Search{window: window} }

// Add adds a listed post of the account.
func (s *Search) Add(p Post) {
	s.seen++
	switch {
	case s.window.Known[p.Receipt.RemoteID]:
	case p.HasUploadedMedia:
		s.proven = append(s.proven, p.Receipt)
	case p.Verdict == Same && p.MediaCountEqual && p.ReplyTargetEqual && !p.OptionsDiffer:
		s.matches = append(s.matches, p.Receipt)
	case p.Verdict == Different, !p.MediaCountEqual && !p.ReplyTargetEqual:
	default:
		s.unclear = append(s.unclear, p.Receipt)
	}
}

// Result returns the finding. complete means that the whole window was listed.
// caveat, unless it is empty, says why the post may exist although it is not
// listed; its absence then proves nothing.
func (s *Search) Result(from time.Time, complete bool, caveat message.Message) network.Finding {
	since := from.UTC().Format(time.RFC3339)
	slices.SortFunc(s.matches, compareAge)
	pending := max(s.window.Pending, 1)
	switch {
	case len(s.proven) == 1:
		return found(s.proven[0],
			message.New("upload_found",
				"Among {count} posts of the account since {since_at}, {id} has the attachment that was uploaded for "+
					"this post.",
				s.seen, since, s.proven[0].RemoteID))
	case len(s.proven) > 1:
		return network.Finding{Similar: len(s.proven), Evidence: message.One("uploads_found",
			"{count} posts have the attachments that were uploaded for this post ({ids}).", len(s.proven),
			joinIDs(s.proven))}
	case len(s.matches) > pending || len(s.matches) > 0 && s.window.Unassignable:
		return network.Finding{Similar: len(s.matches), Evidence: message.One("several_match",
			"{count} posts have the same text, number of attachments and reply target ({ids}). It cannot be "+
				"determined which of them is this post.",
			len(s.matches), joinIDs(s.matches))}
	case s.window.Position < len(s.matches):
		match := s.matches[s.window.Position]
		return found(match, message.New("match_found",
			"Among {count} posts of the account since {since_at}, {id} has the same text, attachments and "+
				"reply target.",
			s.seen, since, match.RemoteID))
	case len(s.unclear) > 0:
		return network.Finding{Similar: len(s.unclear), Evidence: message.One("unclear_posts",
			"{unclear} of {count} posts of the account since {since_at} may be this post with its text "+
				"rewritten ({ids}).", len(s.unclear), s.seen, since, joinIDs(s.unclear))}
	}
	evidence := message.One("none_matches",
		"None of {count} posts of the account since {since_at} has the same text, attachments and reply target.",
		s.seen, since)
	switch {
	case !complete:
		evidence = append(evidence, message.New("more_posts", "There are more posts than could be read."))
	case caveat.Text != "":
		evidence = append(evidence, caveat)
	}
	return network.Finding{Conclusive: complete && caveat.Text == "", Evidence: evidence}
}

func found(receipt network.Receipt, evidence message.Message) network.Finding {
	return network.Finding{Found: true, Conclusive: true, Receipt: receipt, Evidence: message.Messages{evidence}}
}

func compareAge(a, b network.Receipt) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(len(a.RemoteID), len(b.RemoteID)),
		cmp.Compare(a.RemoteID, b.RemoteID))
}

func joinIDs(receipts []network.Receipt) string {
	list := make([]string, min(len(receipts), 5))
	for i := range list {
		list[i] = receipts[i].RemoteID
	}
	if len(receipts) > len(list) {
		list = append(list, "…")
	}
	return strings.Join(list, ", ")
}
