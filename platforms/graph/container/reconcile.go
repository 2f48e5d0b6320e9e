package container

import (
	"context"
	"fmt"
	"strings"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/matching"
	"dateline/platforms/network"
)

// maxPages bounds a search: 500 posts in the window of one lost response are more
// than either network allows.
const maxPages = 10

// ListedPost is a post as a list shows it.
type ListedPost struct {
	ID      string
	Text    string
	URL     string
	At      time.Time // to the second, as these networks date
	Media   int
	ReplyTo string
}

// noContainer says why the absence of a post that has no container proves nothing.
const noContainer = "Listings may lag behind, and there is no container that says whether the post was published."

// ListFunc returns the page of own posts after a cursor, newest first, and the
// cursor of the next; empty: there is none.
type ListFunc func(ctx context.Context, after string) (posts []ListedPost, next string, res *call.Response, err error)

// Reconcile finds a lost post by its container, which says whether it was
// published, and by the list, which says as what.
func Reconcile(ctx context.Context, name string, m interface {
	Status(ctx context.Context, id string) (Status, error)
}, submission network.Submission, window network.Window, list ListFunc) (network.Finding, error) {
	id, err := ID(submission.Handle)
	if err != nil { // never prepared, so there is only the list to go by
		return Search(ctx, submission, window, list, noContainer)
	}
	status, err := m.Status(ctx, id)
	if err != nil {
		if network.AsError(err).Class != network.Rejected {
			return network.Finding{}, err
		}
		return Search(ctx, submission, window, list, noContainer) // the network has forgotten the container
	}
	switch status.State {
	case Published:
		finding, err := Search(ctx, submission, window, list, "")
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

// Search reads the account's own posts back to the window's start and compares
// them with the submission: text, number of attachments and the post that it
// answers (package matching). late is for matching.Search.Finding.
func Search(ctx context.Context, submission network.Submission, window network.Window, list ListFunc, late string) (network.Finding, error) {
	from := window.From.Truncate(time.Second)
	search, compare, complete, after := matching.New(window), matching.NewComparer(submission.Text), false, ""
	for page := 0; page < maxPages && !complete; page++ {
		posts, next, res, err := list(ctx, after)
		if err != nil {
			return network.Finding{}, err
		}
		// A network whose clock is behind dates posts before we sent them. The
		// window only ever grows.
		if early := window.From.Add(res.ClockSkew()).Truncate(time.Second); early.Before(from) {
			from = early
		}
		complete, after = next == "", next
		for _, post := range posts {
			if post.At.Before(from) || post.ID == window.SinceID {
				complete = true
				break
			}
			search.Add(matching.Post{
				Receipt:          network.Receipt{RemoteID: post.ID, URL: post.URL, CreatedAt: post.At, RequestID: res.RequestID},
				Verdict:          compare.Compare(post.Text),
				MediaCountEqual:  post.Media == len(submission.MediaIDs),
				ReplyTargetEqual: post.ReplyTo == submission.ReplyTo,
			})
		}
	}
	return search.Result(from, complete, late), nil
}
