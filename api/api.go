// Package api serves the REST API described by openapi.yaml. Package spec is generated
// from that file (make generate).
package api

import (
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/audience/flush"
	"dateline/internal/identity/audit"
	"dateline/internal/identity/secret"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/clientaddr"
	"dateline/internal/infra/dbclock"
	"dateline/internal/infra/idempotency"
	"dateline/internal/notify/webhook"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/measure"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/ratelimit"
	"dateline/internal/publishing/scheduling"
)

//go:embed openapi.yaml
var document []byte

// IdentityStore reads users, workspaces, members and the audit log.
type IdentityStore interface {
	Bearer(ctx context.Context, tokenHash []byte) (workspace.Principal, workspace.TokenStatus, error)
	User(ctx context.Context, id uuid.UUID) (workspace.User, error)
	Workspace(ctx context.Context, id uuid.UUID) (workspace.Workspace, error)
	WorkspacesOf(ctx context.Context, user uuid.UUID) ([]workspace.Membership, error)
	Members(ctx context.Context, f workspace.MemberFilter) ([]workspace.Member, error)
	AuditLog(ctx context.Context, f audit.Filter) ([]audit.Entry, error)
}

// ZoneStore reads the time zone of a workspace.
type ZoneStore interface {
	Workspace(ctx context.Context, id uuid.UUID) (workspace.Workspace, error)
}

// PostStore reads posts.
type PostStore interface {
	PostInWorkspace(ctx context.Context, workspace, id uuid.UUID) (post.Post, error)
	Posts(ctx context.Context, f post.Filter) ([]post.Post, error)
}

// DeadLetterStore reads dead letters.
type DeadLetterStore interface {
	DeadLetters(ctx context.Context, f post.DeadLetterFilter) ([]post.DeadLetter, error)
	CountDeadLetters(ctx context.Context, workspace uuid.UUID) ([]post.DeadLetterCount, error)
}

// AccountStore reads accounts, and the state of reading their metrics.
type AccountStore interface {
	Accounts(ctx context.Context, workspace uuid.UUID) ([]account.Account, error)
	MeasuringStatus(ctx context.Context, account uuid.UUID) (measure.Status, error)
	MeasuringStatuses(ctx context.Context, workspace uuid.UUID) (map[uuid.UUID]measure.Status, error)
}

// EventStore reads the events of a post and of a workspace.
type EventStore interface {
	Events(ctx context.Context, postID uuid.UUID, after int64, limit int) ([]post.Event, error)
	LatestEventCursor(ctx context.Context) (post.EventCursor, error)
	WorkspaceEvents(ctx context.Context, f post.EventFilter, after post.EventCursor,
		limit int) (events []post.WorkspaceEvent, next post.EventCursor, more bool, err error)
}

// SeriesStore reads series and their exceptions.
type SeriesStore interface {
	SeriesInWorkspace(ctx context.Context, workspace, id uuid.UUID) (post.Series, error)
	ListSeries(ctx context.Context, f post.SeriesFilter) ([]post.Series, error)
	MissedOccurrences(ctx context.Context, id uuid.UUID, limit int) ([]post.SeriesException, error)
	SkippedOccurrences(ctx context.Context, id uuid.UUID, limit int) ([]string, error)
}

// PostScheduler creates, edits and cancels posts.
type PostScheduler interface {
	Schedule(ctx context.Context, who workspace.Principal, draft scheduling.Draft, key idempotency.Key) (p post.Post,
		replayed bool, err error)
	ScheduleRows(ctx context.Context, who workspace.Principal, rows []scheduling.Row, o scheduling.BulkOptions,
		key idempotency.Key) (scheduling.BulkResult, error)
	Edit(ctx context.Context, g post.Guard, edit scheduling.Edit) (post.Post, error)
	Cancel(ctx context.Context, g post.Guard) (post.Post, error)
	PublishNow(ctx context.Context, g post.Guard) (post.Post, error)
	ScheduleDraft(ctx context.Context, g post.Guard, at scheduling.Time) (post.Post, error)
}

// PostReviewer moves posts through approval.
type PostReviewer interface {
	Submit(ctx context.Context, g post.Guard) (post.Post, error)
	Approve(ctx context.Context, g post.Guard) (post.Post, error)
	Reject(ctx context.Context, g post.Guard, note string) (post.Post, error)
	Reopen(ctx context.Context, g post.Guard) (post.Post, error)
}

// DeadLetterHandling retries, discards and resolves dead letters.
type DeadLetterHandling interface {
	Retry(ctx context.Context, g post.Guard, targets []uuid.UUID) (post.Post, error)
	Discard(ctx context.Context, g post.Guard, targets []uuid.UUID) (post.Post, error)
	Confirm(ctx context.Context, g post.Guard, target uuid.UUID, address, remoteID string) (post.Post, error)
	Resend(ctx context.Context, g post.Guard, target uuid.UUID) (post.Post, error)
	DeletePublished(ctx context.Context, g post.Guard, target uuid.UUID) (post.Post, error)
	BulkDeadLetters(ctx context.Context, actor string, f post.DeadLetterFilter, discard,
		dryRun bool) (scheduling.DeadLetterResult, error)
}

// PostPreviewer shows how networks would treat a post, without storing it.
type PostPreviewer interface {
	PreviewStored(ctx context.Context, p post.Post) ([]scheduling.TargetPreview, error)
	Preview(ctx context.Context, who workspace.Principal, draft scheduling.Draft) (scheduling.PostPreview, error)
	Slots(ctx context.Context, who workspace.Principal, from, to time.Time) ([]scheduling.Slot, error)
	ReorderQueue(ctx context.Context, g post.Guard, move post.QueueMove) ([]post.Post, error)
	Limits(ctx context.Context, workspace, accountID uuid.UUID) ([]ratelimit.Bucket, error)
	MediaFit(ctx context.Context, who workspace.Principal, item uuid.UUID, accounts []uuid.UUID) ([]scheduling.MediaFit,
		error)
}

// SeriesScheduler creates and changes recurring posts.
type SeriesScheduler interface {
	CreateSeries(ctx context.Context, who workspace.Principal, in scheduling.SeriesDraft,
		key idempotency.Key) (s post.Series, changed []uuid.UUID, replayed bool, err error)
	EditSeries(ctx context.Context, who workspace.Principal, g post.Guard, edit scheduling.SeriesEdit) (post.Series,
		[]uuid.UUID, error)
	SetSeriesPaused(ctx context.Context, g post.Guard, pause bool) (post.Series, []uuid.UUID, error)
	EndSeries(ctx context.Context, g post.Guard, cancel bool) (post.Series, []uuid.UUID, error)
	SetOccurrenceSkipped(ctx context.Context, g post.Guard, occurrence string, skip bool) (post.Series, []uuid.UUID,
		error)
	UpcomingOccurrences(ctx context.Context, s post.Series, limit int) ([]scheduling.UpcomingOccurrence, error)
}

// Workflows notifies Temporal of a post. Errors are harmless: the reconciler notifies it
// again.
type Workflows interface {
	Start(ctx context.Context, p post.Post) error // a new post
	SignalChanged(ctx context.Context, postID uuid.UUID) error
}

// Accounts manages connected accounts and connects new ones.
type Accounts interface {
	Networks(ctx context.Context) ([]account.NetworkInfo, error)
	Measuring(a account.Account) (account.Measuring, bool)
	Get(ctx context.Context, who workspace.Principal, id uuid.UUID) (account.Account, error)
	Edit(ctx context.Context, who workspace.Principal, id uuid.UUID, c account.Edit) (account.Account, error)
	Check(ctx context.Context, who workspace.Principal, id uuid.UUID) (account.Account, error)
	Disconnect(ctx context.Context, who workspace.Principal, id uuid.UUID) (account.DisconnectResult, error)
	IsSandbox(a account.Account) bool

	AccountConnector
}

// AccountConnector connects accounts by token, form or OAuth. A network that
// offers several accounts lets the user choose.
type AccountConnector interface {
	ConnectWithToken(ctx context.Context, who workspace.Principal, network, baseURL string,
		token secret.Text) (account.Account, error)
	ConnectForm(ctx context.Context, who workspace.Principal, at account.Instance,
		values map[string]secret.Text) (account.Connection, error)
	StartAuthorization(ctx context.Context, who workspace.Principal, at account.Instance) (authorizeURL string,
		err error)
	Reconnect(ctx context.Context, who workspace.Principal, id uuid.UUID) (authorizeURL string, err error)
	CompleteAuthorization(ctx context.Context, back account.Callback) (account.Connection, error)
	Choice(ctx context.Context, who workspace.Principal, id uuid.UUID) (account.Choice, error)
	Choose(ctx context.Context, who workspace.Principal, id uuid.UUID, remoteIDs []string) ([]account.Account, error)
	ChoiceWithKey(ctx context.Context, id uuid.UUID, key string) (account.Choice, error)
	ChooseWithKey(ctx context.Context, id uuid.UUID, key string, remoteIDs []string) ([]account.Account, error)
}

// Live notifies of new events of a post, or of any new events.
type Live interface {
	Listen(ctx context.Context, postID uuid.UUID) <-chan struct{}
	ListenAll(ctx context.Context) <-chan struct{}
	// AccessChanged announces that access was reduced; id is that of a token, session,
	// user or workspace.
	AccessChanged(id uuid.UUID)
	ListenAccess(ctx context.Context) <-chan uuid.UUID
}

// Clock measures the difference between the clocks of this host and the database.
type Clock interface{ Reading() dbclock.Reading }

// Webhooks manages webhook endpoints and their deliveries.
type Webhooks interface {
	Create(ctx context.Context, who workspace.Principal, url, description string, types []string,
		key idempotency.Key) (e webhook.Endpoint, plain secret.Text, replayed bool, err error)
	List(ctx context.Context, who workspace.Principal) ([]webhook.Endpoint, error)
	Get(ctx context.Context, who workspace.Principal, id uuid.UUID) (webhook.Endpoint, error)
	Update(ctx context.Context, who workspace.Principal, id uuid.UUID, c webhook.Change) (webhook.Endpoint, error)
	Delete(ctx context.Context, who workspace.Principal, id uuid.UUID) error
	Rotate(ctx context.Context, who workspace.Principal, id uuid.UUID) (webhook.Endpoint, secret.Text, error)
	Test(ctx context.Context, who workspace.Principal, id uuid.UUID) (webhook.Delivery, error)
	Deliveries(ctx context.Context, f webhook.DeliveryFilter) ([]webhook.Delivery, error)
	Redeliver(ctx context.Context, who workspace.Principal, endpoint, id uuid.UUID) (webhook.Delivery, error)
	RedeliverDead(ctx context.Context, who workspace.Principal, endpoint uuid.UUID) (int64, error)
}

// ViewsStore returns the health of view counting and stores erasures.
type ViewsStore interface {
	ViewsHealth(ctx context.Context) (flush.Health, error)
	CreateViewErasure(ctx context.Context, e flush.Erasure) (flush.Erasure, error)
	ViewErasure(ctx context.Context, workspace, id uuid.UUID) (flush.Erasure, error)
	CountedSites(ctx context.Context, workspace uuid.UUID) ([]uuid.UUID, error)
}

// Check is a readiness check; nil means healthy. Responses contain the Advice of an
// error; its text is only logged.
type Check func(ctx context.Context) error

// Meter counts responses. route is the path template, or "none".
type Meter interface {
	Answered(ctx context.Context, method, route, status string, took time.Duration)
}

// Server handles requests: the routes of each area, and what is common to all. All fields must
// be set, unless they say otherwise.
type Server struct {
	Settings
	Publishing
	Identity
	Notify
	Installation
	*Audience // nil: counting is disabled
	*News     // nil: the crawler is disabled
}

// Publishing serves posts, accounts and media.
type Publishing struct {
	PostHandler
	DeadLetterHandler
	SeriesHandler
	QueueHandler
	PostReportHandler
	EventHandler
	AccountHandler
	LinkPreviewHandler
	MediaHandler
	LabelHandler
	SnippetHandler
	ReviewHandler
	ShortLinkHandler
}

// Audience serves counted readers.
type Audience struct {
	Ingest http.Handler // ingest.Handler
	CountHandler
	ReportHandler
	PlausibleHandler
	SiteHandler
	SharedLinkHandler
	SubscriptionHandler
	StatsImportHandler
	ErasureHandler
}

// News serves the crawler and its articles.
type News struct {
	CrawlHandler
	ArticleHandler
	SearchHandler
	RebuildHandler
	RuleHandler
	WatchHandler
	StoryHandler
	HubHandler
}

// Identity serves users and workspaces.
type Identity struct {
	MemberHandler
	SessionHandler
	WorkspaceHandler
	DemoHandler
	ArchiveHandler
}

// Notify serves webhooks and notifications.
type Notify struct {
	WebhookHandler
	NotificationHandler
	NotificationPages
}

// Installation serves what does not belong to a workspace.
type Installation struct {
	SystemHandler
	TimeHandler
}

// Settings are common to all routes.
type Settings struct {
	Document  func() (*openapi3.T, error) // returns what ReadDocument has read; nil: Handler reads it
	Meter     Meter                       // nil: no metrics
	Page      http.Handler                // serves /, /app and /assets to browsers
	Dashboard bool                        // Page contains the dashboard
	Docs      http.Handler                // serves /docs; nil: there is none
	Log       *slog.Logger

	MaxBodyBytes int64
	Limits       Limits // can be empty
	// BucketOrigin is the origin for direct uploads; empty: none.
	BucketOrigin string
	// Hosts are the accepted host names, in addition to IP addresses and localhost;
	// empty: any.
	Hosts []string
	// TrustedProxies are the addresses and networks whose X-Forwarded-For is trusted.
	TrustedProxies []string
}

// ReadDocument parses openapi.yaml, which takes a moment. What it returns may be shared.
func ReadDocument() (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	// The library checks the schemas of 3.0 as they are, but compiles one of 3.1 again for
	// every value. TestOpenAPI_NeedsNoKeywordOf31 guards the difference.
	doc.OpenAPI = "3.0.3"
	return doc, nil
}

// Handler returns the handler of all routes.
func (s *Server) Handler() (http.Handler, error) {
	read := s.Document
	if read == nil {
		read = ReadDocument
	}
	doc, err := read()
	if err != nil {
		return nil, err
	}
	if s.access, err = readAccess(doc); err != nil {
		return nil, err
	}
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.HandleMethodNotAllowed = true
	r.RedirectTrailingSlash = false // the redirect would bypass the middleware
	r.ContextWithFallback = true    // handlers use the request's context
	r.MaxMultipartMemory = 1 << 20
	proxies, err := clientaddr.Parse(s.TrustedProxies)
	if err != nil {
		return nil, err
	}
	v := newValidator(doc, s.access, s.MaxBodyBytes, s.MediaHandler.Media.MaxBytes+1<<20)
	load := newLoad(s.Limits, s.Log)
	r.Use(
		s.noteClient(proxies),
		s.observe(),
		s.recoverPanics(),
		s.secureHeaders(),
		s.checkHost(),
		s.landings(),
		v.fixedFirst,
		load.makeRoom,
		v.limit(),
		s.authenticate(v, load, newStreams(s.Limits, s.MemberHandler.Events)),
		v.validate(),
	)
	r.NoRoute(func(c *gin.Context) {
		writeProblem(c, http.StatusNotFound, "no_such_route",
			"There is nothing at this address. See /api/openapi.yaml.", nil)
	})
	r.NoMethod(v.refuseMethod)
	for _, address := range []string{"/", "/app", "/app/*page", "/assets/*file"} {
		r.GET(address, s.showPage)
		r.HEAD(address, s.showPage)
	}
	s.docsRoutes(r)
	s.loginRoutes(r)
	s.sharedRoutes(r)
	s.notificationRoutes(r)
	if s.News != nil {
		s.hubRoutes(r)
	}
	r.GET("/api/openapi.yaml", func(c *gin.Context) { c.Data(http.StatusOK, "application/yaml", document) })

	failed := func(c *gin.Context, err error) { refuse(c, s.Log, err) }
	strict := spec.NewStrictHandlerWithOptions(s, nil, spec.StrictGinServerOptions{
		RequestErrorHandlerFunc: func(c *gin.Context, err error) {
			writeProblem(c, http.StatusBadRequest, "invalid_request", "The body could not be read: "+err.Error()+".",
				[]apperr.FieldError{{Field: "body", Code: "invalid", Message: "The body could not be read."}})
		},
		HandlerErrorFunc:         failed,
		ResponseErrorHandlerFunc: failed,
	})
	rows, err := newRowReader(doc)
	if err != nil {
		return nil, err
	}
	r.GET(mediaContentRoute, s.mediaContent)
	r.GET(linkRoute, s.redirectLink)
	r.HEAD(linkRoute, s.redirectLink)
	r.POST(bulkRoute, func(c *gin.Context) { s.createPosts(c, rows) })
	spec.RegisterHandlersWithOptions(s.enabledRoutes(r, doc), strict, spec.GinServerOptions{
		ErrorHandler: refuseParameter,
	})
	h, err := compressed(r)
	if err != nil {
		return nil, err
	}
	return s.serveIngest(h, load.hits), nil
}

// NewHTTPServer sets the timeouts that a public server needs. There is no write timeout,
// because event streams stay open.
func NewHTTPServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: maxHeaderBytes,
	}
}

const maxHeaderBytes = 64 << 10
