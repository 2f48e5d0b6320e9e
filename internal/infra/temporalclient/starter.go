// Package temporalclient tells Temporal about posts, webhooks' deliveries and tokens.
package temporalclient

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"

	"dateline/internal/news/crawl"
	"dateline/internal/publishing/post"
	"dateline/workflows"
)

// Options say where Temporal is.
type Options struct {
	Address   string
	Namespace string
	APIKey    string // Temporal Cloud; implies TLS
	TLS       bool
	Metrics   client.MetricsHandler         // nil: none
	Tracing   interceptor.ClientInterceptor // nil: none; it also traces what workers of this client do
}

// Connect makes a client. It does not wait for the server: a post must be
// accepted also while Temporal is down.
func Connect(o Options, logger *slog.Logger) (client.Client, error) {
	co := client.Options{HostPort: o.Address, Namespace: o.Namespace, Logger: log.NewStructuredLogger(logger), MetricsHandler: o.Metrics}
	if onThisMachine(o.Address) {
		// Packing what never leaves the machine costs both sides a tenth of their time.
		co.ConnectionOptions.GrpcCompression = &client.GrpcCompressionNone{}
	}
	if o.Tracing != nil {
		co.Interceptors = append(co.Interceptors, o.Tracing)
	}
	if o.TLS || o.APIKey != "" {
		co.ConnectionOptions.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if o.APIKey != "" {
		co.Credentials = client.NewAPIKeyStaticCredentials(o.APIKey)
	}
	return client.NewLazyClient(co)
}

func onThisMachine(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// Starter starts and nudges workflows. It is safe for concurrent use.
type Starter struct {
	Client    client.Client
	Namespace string
	// Stuck is how often a step of a workflow has to be tried for EnsureRunning to start
	// it anew; 0: six times, which takes Temporal more than a minute.
	Stuck int32
}

const stuck = 6

// Nudge makes sure that a post's workflow runs and reads its row again. Doing
// it twice does no harm: the row decides what may happen.
func (s *Starter) Nudge(ctx context.Context, postID uuid.UUID) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err := s.Client.SignalWithStartWorkflow(ctx, workflows.PostID(postID), workflows.SignalChanged, nil,
		options(postID), workflows.PostWorkflow, workflows.PostInput{PostID: postID})
	if err != nil {
		return fmt.Errorf("telling Temporal about post %s: %w", postID, err)
	}
	return nil
}

// Wake makes a post that waits for a rate limit ask again. A post without a
// workflow waits for nothing.
func (s *Starter) Wake(ctx context.Context, postID uuid.UUID) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	err := s.Client.SignalWorkflow(ctx, workflows.PostID(postID), "", workflows.SignalWake, nil)
	var none *serviceerror.NotFound
	if err != nil && !errors.As(err, &none) {
		return fmt.Errorf("waking post %s: %w", postID, err)
	}
	return nil
}

// Start starts the workflow of a new post. Unlike a nudge it sends no signal,
// and where the worker is part of this process it saves a way through the task
// queue, so it costs Temporal a third less. A workflow that runs already, for
// the same request came before, is left alone: it reads the row by itself.
func (s *Starter) Start(ctx context.Context, p post.Post) error {
	o := options(p.ID)
	o.TypedSearchAttributes = workflows.AttributesOf(p)
	o.EnableEagerStart = true
	return s.start(ctx, workflows.PostInput{PostID: p.ID, Shown: true}, o)
}

// EnsureRunning makes sure that a post's workflow runs, and tells one that runs nothing;
// began says whether it did not. It looks first: also a start that comes to
// nothing writes to Temporal's store.
//
// A workflow whose step fails again and again is no better than none: this
// version cannot play its history again, because a later one has written it or
// because of a mistake. It is ended and begun anew from the post's row, as if
// Temporal had lost it. What it had under way changes nothing: the row and the
// ledger say what may be sent.
func (s *Starter) EnsureRunning(ctx context.Context, postID uuid.UUID) (began bool, err error) {
	looking, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	described, err := s.Client.DescribeWorkflowExecution(looking, workflows.PostID(postID), "")
	var unknown *serviceerror.NotFound
	switch {
	case errors.As(err, &unknown):
	case err != nil:
		return false, fmt.Errorf("asking Temporal about post %s: %w", postID, err)
	case described.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING:
	case described.GetPendingWorkflowTask().GetAttempt() < cmp.Or(s.Stuck, stuck):
		return false, nil
	default:
		run := described.GetWorkflowExecutionInfo().GetExecution().GetRunId()
		err := s.Client.TerminateWorkflow(looking, workflows.PostID(postID), run, "Its history cannot be played again; it begins anew from the post's row.")
		if err != nil && !errors.As(err, &unknown) {
			return false, fmt.Errorf("ending the workflow of post %s, which is stuck: %w", postID, err)
		}
	}
	return true, s.start(ctx, workflows.PostInput{PostID: postID}, options(postID))
}

func (s *Starter) start(ctx context.Context, in workflows.PostInput, o client.StartWorkflowOptions) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if _, err := s.Client.ExecuteWorkflow(ctx, o, workflows.PostWorkflow, in); err != nil {
		return fmt.Errorf("telling Temporal about post %s: %w", in.PostID, err)
	}
	return nil
}

// StartDelivery makes sure that a webhook's delivery has a workflow, which reads
// its row again. Doing it twice does no harm.
func (s *Starter) StartDelivery(ctx context.Context, id uuid.UUID) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err := s.Client.SignalWithStartWorkflow(ctx, workflows.DeliveryID(id), workflows.SignalChanged, nil,
		client.StartWorkflowOptions{
			TaskQueue:                workflows.WebhookQueue,
			WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
			WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
			StaticSummary:            "Delivers webhook " + id.String(),
		}, workflows.DeliverWebhookWorkflow, workflows.DeliverWebhookInput{DeliveryID: id})
	if err != nil {
		return fmt.Errorf("telling Temporal about delivery %s: %w", id, err)
	}
	return nil
}

// StartRefresh makes sure that an account's token is being renewed.
func (s *Starter) StartRefresh(ctx context.Context, id uuid.UUID) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err := s.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                       workflows.AccountID(id),
		TaskQueue:                workflows.PostQueue,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		TypedSearchAttributes:    temporal.NewSearchAttributes(workflows.AccountIDKey.ValueSet(id.String())),
		StaticSummary:            "Renews the token of account " + id.String(),
	}, workflows.RefreshTokenWorkflow, workflows.RefreshTokenInput{AccountID: id})
	if err != nil {
		return fmt.Errorf("telling Temporal about account %s: %w", id, err)
	}
	return nil
}

func options(postID uuid.UUID) client.StartWorkflowOptions {
	return client.StartWorkflowOptions{
		ID:                       workflows.PostID(postID),
		TaskQueue:                workflows.PostQueue,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		// A workflow that an operator terminated must not take its post with it.
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		StaticSummary:         "Publishes post " + postID.String(),
	}
}

// StoreIdentity names the store that Temporal keeps its workflows in: the id
// that the namespace was given when it was made there.
func (s *Starter) StoreIdentity(ctx context.Context) (string, error) {
	answer, err := s.Client.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: s.Namespace})
	if err != nil {
		return "", err
	}
	return answer.GetNamespaceInfo().GetId(), nil
}

// Ping says whether Temporal answers.
func (s *Starter) Ping(ctx context.Context) error {
	_, err := s.Client.CheckHealth(ctx, &client.CheckHealthRequest{})
	return err
}

// Polled says whether a worker polls for posts.
func (s *Starter) Polled(ctx context.Context) (bool, error) {
	answer, err := s.Client.DescribeTaskQueue(ctx, workflows.PostQueue, enumspb.TASK_QUEUE_TYPE_ACTIVITY)
	if err != nil {
		return false, err
	}
	for _, p := range answer.GetPollers() {
		if time.Since(p.GetLastAccessTime().AsTime()) < 2*time.Minute {
			return true, nil
		}
	}
	return false, nil
}

// SignalCrawl tells a domain's crawl what was done with the domain. A pause is
// of use only to one that runs; everything else starts one.
func (s *Starter) SignalCrawl(ctx context.Context, domain string, what crawl.Command) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	id := workflows.CrawlDomainID(domain)
	var err error
	if what == crawl.Pause {
		err = s.Client.SignalWorkflow(ctx, id, "", workflows.SignalPause, nil)
		var none *serviceerror.NotFound
		if errors.As(err, &none) {
			return nil
		}
	} else {
		_, err = s.Client.SignalWithStartWorkflow(ctx, id, string(what), nil, client.StartWorkflowOptions{
			TaskQueue:                workflows.CrawlQueue,
			WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
			WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
			TypedSearchAttributes:    temporal.NewSearchAttributes(workflows.DomainKey.ValueSet(domain)),
			StaticSummary:            "Crawls " + domain,
		}, workflows.CrawlDomainWorkflow, workflows.CrawlDomainInput{Domain: domain})
	}
	if err != nil {
		return fmt.Errorf("telling Temporal about the domain %s: %w", domain, err)
	}
	return nil
}

// StartExport starts the export of a domain's pages.
func (s *Starter) StartExport(ctx context.Context, domain, export, key string, from, to time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err := s.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                       workflows.ExportID(export),
		TaskQueue:                workflows.CrawlQueue,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		TypedSearchAttributes:    temporal.NewSearchAttributes(workflows.DomainKey.ValueSet(domain)),
		StaticSummary:            "Exports pages of " + domain,
	}, workflows.ExportPagesWorkflow, workflows.ExportPagesInput{Domain: domain, From: from, To: to, Key: key})
	if err != nil {
		return fmt.Errorf("telling Temporal about an export of %s: %w", domain, err)
	}
	return nil
}

// StartWorkspaceExport makes sure that a workspace's export is being carried out.
func (s *Starter) StartWorkspaceExport(ctx context.Context, id uuid.UUID) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err := s.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                       workflows.WorkspaceExportID(id),
		TaskQueue:                workflows.PostQueue,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		StaticSummary:            "Exports a workspace",
	}, workflows.ExportWorkspaceWorkflow, workflows.ExportWorkspaceInput{ExportID: id})
	if err != nil {
		return fmt.Errorf("telling Temporal about the export %s: %w", id, err)
	}
	return nil
}

// StartSelectorLearning has the selectors of a site seen to. One that is at it reads
// from the database what is to be done.
func (s *Starter) StartSelectorLearning(ctx context.Context, domain string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err := s.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                       workflows.LearnSelectorsID(domain),
		TaskQueue:                workflows.CrawlQueue,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		TypedSearchAttributes:    temporal.NewSearchAttributes(workflows.DomainKey.ValueSet(domain)),
		StaticSummary:            "Selectors of " + domain,
	}, workflows.LearnSelectorsWorkflow, workflows.LearnSelectorsInput{Domain: domain})
	if err != nil {
		return fmt.Errorf("telling Temporal about the selectors of %s: %w", domain, err)
	}
	return nil
}

// StartReindex has the index of the search built anew, once at a time, and gives
// the id of the workflow that does.
func (s *Starter) StartReindex(ctx context.Context) (id string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err = s.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                       workflows.ReindexArticlesID,
		TaskQueue:                workflows.SearchQueue,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		StaticSummary:            "Builds the index of the search anew",
	}, workflows.ReindexArticlesWorkflow)
	if err != nil {
		return "", fmt.Errorf("telling Temporal to build the index anew: %w", err)
	}
	return workflows.ReindexArticlesID, nil
}
