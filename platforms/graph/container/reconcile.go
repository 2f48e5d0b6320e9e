package container

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// maxPages bounds a search: 500 posts in the window of one lost answer are more
// than either network allows.
const maxPages = 10

// Listed is a post as a list shows it.
type Listed struct {
	ID      string
	Text    string
	URL     string
	At      time.Time // to the second, as these networks date
	Media   int
	ReplyTo string
}

// List gives the page of own posts after a cursor, newest first, and the cursor
// of the next; empty: there is none.
type List func(ctx context.Context, after string) (posts []Listed, next string, res *call.Response, err error)

// Reconcile finds a lost post by its container, which says whether it was
// published, and by the list, which says as what.
func Reconcile(ctx context.Context, name string, m interface {
	Status(ctx context.Context, id string) (Status, error)
}, submission network.Submission, window network.Window, list List) (network.Finding, error) {
	id, err := ID(submission.Handle)
	if err != nil { // never prepared, so there is only the list to go by
		return Search(ctx, submission, window, list)
	}
	status, err := m.Status(ctx, id)
	if err != nil {
		if network.AsError(err).Class != network.Rejected {
			return network.Finding{}, err
		}
		return Search(ctx, submission, window, list) // the network has forgotten the container
	}
	switch status.State {
	case Published:
		finding, err := Search(ctx, submission, window, list)
		if err != nil {
			return network.Finding{}, err
		}
		finding.Evidence = fmt.Sprintf("%s says that container %s is published. %s", name, id, finding.Evidence)
		finding.Conclusive = finding.Found // it exists, wherever it is
		return finding, nil
	case Finished, Failed, Expired:
		return network.Finding{Conclusive: true,
			Evidence: fmt.Sprintf("%s says that container %s is %s, so it was not published.", name, id, strings.ToLower(string(status.State)))}, nil
	default:
		return network.Finding{Evidence: fmt.Sprintf("%s still works on container %s (%s).", name, id, status.State)}, nil
	}
}

// Search reads the account's own posts back to the window's start and looks for
// the one that equals the submission: text, number of attachments and the post
// that it answers. It claims only a single match.
func Search(ctx context.Context, submission network.Submission, window network.Window, list List) (network.Finding, error) {
	wanted := normal(submission.Text)
	from := window.From.Truncate(time.Second)
	var matches []network.Receipt
	seen, complete, after := 0, false, ""
	for page := 0; page < maxPages && !complete; page++ {
		posts, next, res, err := list(ctx, after)
		if err != nil {
			return network.Finding{}, err
		}
		// A network whose clock is behind dates posts before we sent them. The
		// window only ever grows.
		if early := window.From.Add(res.Skew()).Truncate(time.Second); early.Before(from) {
			from = early
		}
		complete, after = next == "", next
		for _, post := range posts {
			if post.At.Before(from) || post.ID == window.SinceID {
				complete = true
				break
			}
			seen++
			if !window.Known[post.ID] && post.ReplyTo == submission.ReplyTo && post.Media == len(submission.MediaIDs) && normal(post.Text) == wanted {
				matches = append(matches, network.Receipt{RemoteID: post.ID, URL: post.URL, CreatedAt: post.At, RequestID: res.RequestID})
			}
		}
	}
	since := from.UTC().Format(time.RFC3339)
	switch {
	case len(matches) == 1:
		return network.Finding{Found: true, Conclusive: true, Receipt: matches[0], Evidence: fmt.Sprintf(
			"Among %d posts since %s, %s has the same text, attachments and reply target.", seen, since, matches[0].RemoteID)}, nil
	case len(matches) > 1:
		ids := make([]string, len(matches))
		for i, match := range matches {
			ids[i] = match.RemoteID
		}
		return network.Finding{Evidence: fmt.Sprintf(
			"%d posts have the same text, attachments and reply target (%s): which of them is this one cannot be told.", len(matches), strings.Join(ids, ", "))}, nil
	default:
		return network.Finding{Conclusive: complete, Evidence: fmt.Sprintf(
			"None of %d posts since %s has the same text, attachments and reply target.", seen, since)}, nil
	}
}

// normal brings a text into the one form in which what was sent and what is
// listed are equal.
func normal(text string) string { return strings.Join(strings.Fields(norm.NFC.String(text)), " ") }
