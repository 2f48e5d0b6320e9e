package workflows

import (
	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"

	"dateline/internal/publishing/delivery"
)

// Task queues.
const (
	// PostQueue runs posts with their activities. Its activity rate is not
	// limited on the server, because that would switch eager dispatch off.
	PostQueue = "dateline-post"
	// WebhookQueue runs the deliveries of webhooks, so that no slow receiver
	// delays a post.
	WebhookQueue = "dateline-webhook"
)

// Names by which workflows are started.
const (
	PostWorkflow              = "Post"
	ReconcilePostsWorkflow    = "ReconcilePosts"
	DeliverWebhookWorkflow    = "DeliverWebhook"
	MaterializeSeriesWorkflow = "MaterializeSeries"
	SweepMediaWorkflow        = "SweepMedia"
)

// PublishActivity is the name of the activity that sends to a network,
// activities.Publishing.PublishTarget.
const PublishActivity = "PublishTarget"

// Ids of schedules.
const (
	ReconcileSchedule   = "reconcile-posts"
	MaterializeSchedule = "materialize-series"
	SweepMediaSchedule  = "sweep-media"
)

// Signals of the Post workflow. Operators send all but the last two; see
// docs/reference/temporal.md for the command lines.
const (
	SignalCancel     = "cancel"
	SignalEdit       = "edit"        // input: EditSignal
	SignalPublishNow = "publish_now" //
	SignalRetry      = "retry"       // input: none, or TargetsSignal
	SignalDiscard    = "discard"     // input: none, or TargetsSignal
	SignalChanged    = "changed"     // the post's row changed: read it again; also the row of a delivery
	SignalWake       = "wake"        // a rate limit that the post waits for is open: try again
)

// QueryState asks a Post workflow what it is doing (StateResult).
const QueryState = "state"

// PostID is the workflow id of a post.
func PostID(post uuid.UUID) string { return "post/" + post.String() }

// DeliveryID is the workflow id of a webhook's delivery.
func DeliveryID(delivery uuid.UUID) string { return "webhook/" + delivery.String() }

// PostInput starts a Post workflow. It holds no content and no secret: none may enter a
// history, and an edit must always be seen.
type PostInput struct {
	PostID uuid.UUID
	// View is the post as it was stored, for a workflow that is started with it: it need
	// not read the post first. Whoever changes the post signals the workflow. nil: the
	// workflow reads the post.
	View *delivery.PostView `json:",omitempty"`
	// HasSearchAttributes says that it was started with its search attributes. Other
	// runs set them themselves.
	HasSearchAttributes bool `json:",omitempty"`
}

// DeliverWebhookInput starts a DeliverWebhook workflow.
type DeliverWebhookInput struct {
	DeliveryID uuid.UUID
}

// PostResult is the final state of the post.
type PostResult struct {
	Status string
}

// EditSignal is what an operator may change by a signal; fields that are not set
// stay unchanged.
type EditSignal struct {
	Content       *string `json:"content,omitempty"`
	ScheduledTime *string `json:"scheduled_time,omitempty"` // RFC 3339, or local with time_zone
	TimeZone      *string `json:"time_zone,omitempty"`      // IANA
}

// TargetsSignal names the dead letters that a signal is for; none means all of
// the post.
type TargetsSignal struct {
	Targets []uuid.UUID `json:"targets,omitempty"`
}

// StateResult is the result of QueryState.
type StateResult struct {
	Doing    string `json:"doing"` // reading, waiting, preparing, publishing, parked, done
	Until    string `json:"until,omitempty"`
	Revision int64  `json:"revision"`
}

// Search attributes, all indexed by Temporal for the Web UI and for
// `temporal workflow list --query`. Workflows never read them to decide.
var (
	PostStatusKey = temporal.NewSearchAttributeKeyKeyword("PostStatus")
	PlatformKey   = temporal.NewSearchAttributeKeyKeyword("Platform")
	AccountIDKey  = temporal.NewSearchAttributeKeyKeyword("AccountID")
	DomainKey     = temporal.NewSearchAttributeKeyKeyword("Domain")
	PublishAtKey  = temporal.NewSearchAttributeKeyTime("PublishAt")
)

// SearchAttributes are the names and types that a namespace must have.
func SearchAttributes() map[string]string {
	return map[string]string{
		PostStatusKey.GetName(): "Keyword",
		PlatformKey.GetName():   "Keyword",
		AccountIDKey.GetName():  "Keyword",
		DomainKey.GetName():     "Keyword",
		PublishAtKey.GetName():  "Datetime",
	}
}
