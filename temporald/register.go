package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	namespacepb "go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/types/known/durationpb"
)

// startLimit bounds the wait for the frontend. A start takes seconds even on a busy machine.
const startLimit = time.Minute

// register waits until the frontend serves, then brings namespaces that were there before up to date.
func register(ctx context.Context, o options) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	conn, err := grpc.NewClient("passthrough:///"+o.frontend(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return fmt.Errorf("dial the frontend: %w", err)
	}
	defer func() { _ = conn.Close() }()
	if err := waitServing(ctx, healthpb.NewHealthClient(conn)); err != nil {
		return err
	}
	for _, namespace := range o.namespaces {
		if err := updateRetention(ctx, workflowservice.NewWorkflowServiceClient(conn), namespace, o); err != nil {
			return fmt.Errorf("namespace %q: %w", namespace, err)
		}
		if err := addSearchAttributes(ctx, operatorservice.NewOperatorServiceClient(conn), namespace, o); err != nil {
			return fmt.Errorf("namespace %q: %w", namespace, err)
		}
	}
	return nil
}

func waitServing(ctx context.Context, client healthpb.HealthClient) error {
	service := workflowservice.WorkflowService_ServiceDesc.ServiceName
	for {
		resp, err := client.Check(ctx, &healthpb.HealthCheckRequest{Service: service}, grpc.WaitForReady(true))
		if err == nil && resp.GetStatus() == healthpb.HealthCheckResponse_SERVING {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the frontend does not answer health checks (%v): %w; see the log with --log-level info", resp.GetStatus(), errors.Join(err, ctx.Err()))
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// updateRetention applies only an explicit --retention, so that a restart does not undo
// a value that an operator set later.
func updateRetention(ctx context.Context, client workflowservice.WorkflowServiceClient, namespace string, o options) error {
	if !o.retentionGiven {
		return nil
	}
	described, err := client.DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace})
	if err != nil {
		return fmt.Errorf("read its retention: %w", err)
	}
	if described.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration() == o.retention {
		return nil
	}
	_, err = client.UpdateNamespace(ctx, &workflowservice.UpdateNamespaceRequest{
		Namespace: namespace,
		Config:    &namespacepb.NamespaceConfig{WorkflowExecutionRetentionTtl: durationpb.New(o.retention)},
	})
	if err != nil {
		return fmt.Errorf("set its retention to %s: %w", o.retention, err)
	}
	return nil
}

func addSearchAttributes(ctx context.Context, client operatorservice.OperatorServiceClient, namespace string, o options) error {
	listed, err := client.ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return fmt.Errorf("list its search attributes: %w", err)
	}
	missing := map[string]enumspb.IndexedValueType{}
	for name, want := range o.searchAttributes {
		have, ok := listed.GetCustomAttributes()[name]
		switch {
		case !ok:
			missing[name] = want
		case have != want:
			return fmt.Errorf("search attribute %s is a %s already and cannot become a %s; choose another name", name, have, want)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	_, err = client.AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: namespace, SearchAttributes: missing,
	})
	if err != nil {
		return fmt.Errorf("add search attributes: %w", err)
	}
	return nil
}
