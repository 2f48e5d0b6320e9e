package container

import (
	"context"
	"time"

	"dateline/internal/infra/message"
	"dateline/platforms/call"
	"dateline/platforms/graph"
	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// StagedID is the Staged.RemoteID of an attachment that is added to a container
// together with the text, so that nothing is uploaded before Prepare.
const StagedID = "with_container"

// Staging implements StageStatus for networks whose attachments are ready as
// soon as they are staged.
type Staging struct{}

// StageStatus makes no call.
func (Staging) StageStatus(_ context.Context, _ network.Account, staged network.Staged) (network.Staged, error) {
	staged.Ready = true
	return staged, nil
}

// permalinkTimeout is short, because the post is published and only its address
// is missing.
const permalinkTimeout = 10 * time.Second

// Node contains the used fields of a post of Instagram or Threads. Those that were not
// requested are empty.
type Node struct {
	ID        string     `json:"id"`
	Caption   string     `json:"caption"` // of Instagram
	Text      string     `json:"text"`
	Permalink string     `json:"permalink"`
	Timestamp graph.Time `json:"timestamp"`
	Type      string     `json:"media_type"`
	Username  string     `json:"username"`
	RepliedTo struct {
		ID string `json:"id"`
	} `json:"replied_to"`
	Children struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	} `json:"children"`
}

// MediaCount is the number of attachments.
func (n Node) MediaCount() int {
	switch n.Type {
	case "TEXT_POST", "":
		return 0
	case "CAROUSEL_ALBUM":
		return len(n.Children.Data)
	}
	return 1
}

// ReadBack reads a published post. It returns false if that fails: the post is
// published anyway, and only its address is missing.
func ReadBack(ctx context.Context, query func(ctx context.Context) (*call.Response, error)) (post Node, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, permalinkTimeout)
	defer cancel()
	res, err := query(ctx)
	return post, err == nil && res.Decode(&post) == nil
}

// Error subcodes that Instagram and Threads share.
// https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/error-codes
const (
	subcodeDailyQuota    = 2207042
	subcodeSuspectedSpam = 2207051
	subcodeNotFetchable  = 2207052
)

// quotaRetryAfter is how long to wait when the daily quota is used up. It is
// restored gradually, as the posts of the day before become older than a day.
const quotaRetryAfter = time.Hour

// RefineError classifies the error subcodes that Instagram and Threads share.
// create marks the publishing call; all other calls can be repeated.
func RefineError(name string, f graph.ErrorObject, create bool, e *network.Error) {
	switch f.Subcode {
	case subcodeSuspectedSpam:
		// Instagram posts with this refusal were observed to be published.
		e.Class = network.Rejected
		if create {
			e.Class = network.Ambiguous
		}
	case subcodeDailyQuota:
		e.Class, e.Scope, e.RetryAt = network.Throttled, network.ScopeAccount, time.Now().Add(quotaRetryAfter)
	case subcodeNotFetchable:
		e.Class, e.Code = network.Rejected, graph.CodeNotFetchable
		e.Message = name + " could not fetch an attachment. " + graph.AdvicePublicEndpoint
	}
	if e.Class != network.Throttled {
		e.Scope = ""
	}
}

// Both networks scale images to a width in this range.
const (
	minImageWidth = 320
	maxImageWidth = 1440
)

// ScalingNote returns a preview's note about an image that the network scales; false
// if it does not scale attachment n, which counts from 1.
func ScalingNote(name string, n int, media network.MediaInfo) (message.Message, bool) {
	switch {
	case rules.IsVideoOrAudio(media) || media.Width <= 0:
		return message.Message{}, false
	case media.Width > maxImageWidth:
		return message.New("image_scaled_down",
			"{network} scales attachment {number} from {width} down to {limit} pixels of width.", name, n, media.Width,
			maxImageWidth), true
	case media.Width < minImageWidth:
		return message.New("image_scaled_up",
			"{network} scales attachment {number} from {width} up to {limit} pixels of width.", name, n, media.Width,
			minImageWidth), true
	}
	return message.Message{}, false
}
