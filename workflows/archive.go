package workflows

import (
	"github.com/google/uuid"
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
)

// ExportWorkspaceWorkflow is the name by which an export of a workspace is
// started.
const ExportWorkspaceWorkflow = "ExportWorkspace"

// WorkspaceExportID is the workflow id of an export of a workspace.
func WorkspaceExportID(export uuid.UUID) string { return "workspace-export/" + export.String() }

// ExportWorkspaceInput starts an ExportWorkspace workflow.
type ExportWorkspaceInput struct {
	ExportID uuid.UUID
}

// ExportWorkspace writes a workspace's data to the object store, and deletes it when it
// expires. Canceling it while the archive is available deletes the archive immediately.
func ExportWorkspace(ctx workflow.Context, in ExportWorkspaceInput) (out activities.ArchiveResult, err error) {
	var a *activities.Archive
	export := activities.ArchiveInput(in)
	err = workflow.ExecuteActivity(longRunningOptions(ctx, "Writes the archive"), a.WriteArchive, export).Get(ctx, &out)
	ending, _ := workflow.NewDisconnectedContext(ctx)
	if err != nil {
		if noted := workflow.ExecuteLocalActivity(databaseOptions(ending, "Notes that it failed"), a.FailArchive,
			export).Get(ending, nil); noted != nil {
			return out, noted
		}
		return out, err
	}
	if !out.Written {
		return out, nil
	}
	_ = workflow.Sleep(ctx, out.Keep) // a cancellation ends it early
	return out, workflow.ExecuteLocalActivity(databaseOptions(ending, "Deletes the archive"), a.DropArchive, export).
		Get(ending, nil)
}
