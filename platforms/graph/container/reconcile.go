package container

import (
	"context"
	"strings"
	"time"

	"dateline/internal/infra/message"
	"dateline/platforms/call"
	"dateline/platforms/matching"
	"dateline/platforms/network"
)

// maxPages bounds a search to 500 posts in the window of one lost response, which
// is more than either network allows.
const maxPages = 10

// ListedPost is a post in a listing.
type ListedPost struct {
	ID      string
	Text    string
	URL     string
	At      time.Time // to the second, like all times of these networks
	Media   int
	ReplyTo string
}

// noContainer explains why the absence of a post without a container is not
// conclusive.
func noContainer() message.Message {
	return message.New("no_container",
		"Listings may be delayed, and there is no container whose state shows whether the post was published.")
}

// ListFunc returns a page of the account's own posts after a cursor, newest
// first, and the cursor of the next page; empty: none.
type ListFunc func(ctx context.Context, after string) (posts []ListedPost, next string, res *call.Response, err error)

// Reconcile finds a lost post by its container, whose state says whether it was
// published, and by the listing, which contains its id.
func Reconcile(ctx context.Context, name string, m interface {
	Status(ctx context.Context, id string) (Status, error)
}, submission network.Submission, window network.Window, list ListFunc,
) (network.Finding, error) {
	id, err := ID(submission.Handle)
	if err != nil { // never prepared, so there is only the listing
		return Search(ctx, submission, window, list, noContainer())
	}
	status, err := m.Status(ctx, id)
	if err != nil {
		if network.AsError(err).Class != network.Rejected {
			return network.Finding{}, err
		}
		return Search(ctx, submission, window, list, noContainer()) // the network no longer knows the container
	}
	switch status.State {
	case Published:
		finding, err := Search(ctx, submission, window, list, message.Message{})
		if err != nil {
			return network.Finding{}, err
		}
		finding.Evidence = append(message.One("container_published",
			"{network} reports that container {id} is published.", name, id), finding.Evidence...)
		finding.Conclusive = finding.Found // it exists, even if it is not listed
		return finding, nil
	case Finished, Failed, Expired:
		return network.Finding{
			Conclusive: true,
			Evidence: message.One("container_not_published",
				"{network} reports that container {id} is {state}, so it was not published.", name, id,
				strings.ToLower(string(status.State))),
		}, nil
	default:
		return network.Finding{Evidence: message.One("container_in_progress",
			"{network} is still processing container {id} ({state}).", name, id, string(status.State))}, nil
	}
}

// Search reads the account's own posts back to the start of the window and
// compares them with the submission: text, number of attachments and reply target
// (package matching). caveat is passed to matching.Search.Result.
func Search(
	ctx context.Context, submission network.Submission, window network.Window, list ListFunc, caveat message.Message,
) (network.Finding, error) {
	from := window.From.Truncate(time.Second)
	search, compare, complete, after := matching.New(window), matching.NewComparer(submission.Text), false, ""
	for page := 0; page < maxPages && !complete; page++ {
		posts, next, res, err := list(ctx, after)
		if err != nil {
			return network.Finding{}, err
		}
		// A network whose clock is behind dates posts before the local send time.
		// The window is only ever extended.
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
				Receipt: network.Receipt{
					RemoteID: post.ID, URL: post.URL, CreatedAt: post.At, RequestID: res.RequestID,
				},
				Verdict:          compare.Compare(post.Text),
				MediaCountEqual:  post.Media == len(submission.MediaIDs),
				ReplyTargetEqual: post.ReplyTo == submission.ReplyTo,
			})
		}
	}
	return search.Result(from, complete, caveat), nil
}

// ResolveRefusal determines what a refusal of the publishing call means that
// reports that the container does not exist or is not ready. That is temporary
// for a new container, but the networks also report it for containers that
// expired or are published. It returns refused if the container's state cannot be
// read.
func ResolveRefusal(ctx context.Context, name string, m interface {
	Status(ctx context.Context, id string) (Status, error)
}, id string, refused *network.Error,
) *network.Error {
	status, err := m.Status(ctx, id)
	if err != nil {
		if e := network.AsError(err); e.Class == network.Rejected {
			// The network does not know the container: its outcome is unknown.
			refused.Class = network.Ambiguous
		}
		return refused
	}
	settled := *refused
	switch problem := status.check(name); {
	case status.State == Published:
		settled.Class = network.Ambiguous
		settled.Message = name + " reports that the prepared post is already published."
	case problem != nil:
		settled.Class, settled.Code, settled.Message = problem.Class, problem.Code, problem.Message
	default:
		settled.Class = network.Transient
		if settled.RetryAt.IsZero() {
			settled.RetryAt = time.Now().Add(3 * time.Second)
		}
	}
	return &settled
}
