// Package client replaces the client of the controller that scales workers, see
// ../../../README.md.
package client

import (
	"context"

	deploymentpb "go.temporal.io/api/deployment/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/server/common/namespace"
	"go.uber.org/fx"

	"go.temporal.io/auto-scaled-workers/wci/workflow/iface"
)

// Module provides the client.
var Module = fx.Options(fx.Provide(func() Client { return none{} }))

// Client has the methods that the server calls.
type Client interface {
	DescribeWorkerControllerInstance(ctx context.Context, n *namespace.Namespace, v *deploymentpb.WorkerDeploymentVersion) (*iface.QueryDescribeWorkerControllerInstanceResponse, []byte, error)
	UpdateWorkerControllerInstance(ctx context.Context, n *namespace.Namespace, v *deploymentpb.WorkerDeploymentVersion, conflictToken []byte, identity string,
		upsert map[string]iface.ScalingGroupSpecUpdate, remove []string) (*iface.UpdateWorkerControllerInstanceResponse, error)
	ValidateWorkerControllerInstanceSpec(ctx context.Context, n *namespace.Namespace, v *deploymentpb.WorkerDeploymentVersion, identity string,
		upsert map[string]iface.ScalingGroupSpecUpdate, remove []string) error
	DeleteWorkerControllerInstance(ctx context.Context, n *namespace.Namespace, v *deploymentpb.WorkerDeploymentVersion, identity string) error
}

// none is a client without a controller: no worker deployment has a compute provider,
// and none can get one.
type none struct{}

func (none) DescribeWorkerControllerInstance(context.Context, *namespace.Namespace, *deploymentpb.WorkerDeploymentVersion) (*iface.QueryDescribeWorkerControllerInstanceResponse, []byte, error) {
	return nil, nil, serviceerror.NewNotFound("the worker deployment has no compute provider")
}

func (none) UpdateWorkerControllerInstance(context.Context, *namespace.Namespace, *deploymentpb.WorkerDeploymentVersion, []byte, string, map[string]iface.ScalingGroupSpecUpdate, []string) (*iface.UpdateWorkerControllerInstanceResponse, error) {
	return nil, errExcluded()
}

func (none) ValidateWorkerControllerInstanceSpec(context.Context, *namespace.Namespace, *deploymentpb.WorkerDeploymentVersion, string, map[string]iface.ScalingGroupSpecUpdate, []string) error {
	return errExcluded()
}

func (none) DeleteWorkerControllerInstance(context.Context, *namespace.Namespace, *deploymentpb.WorkerDeploymentVersion, string) error {
	return nil
}

func errExcluded() error {
	return serviceerror.NewUnimplemented("temporald cannot start workers: it is built without compute providers")
}
