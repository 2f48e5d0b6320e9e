package worker

import (
	"time"

	"dateline/workflows"
)

// audiencePart stores counted readers and sends reports.
func audiencePart(a Activities) part {
	return part{
		workflows: map[string]any{
			workflows.FlushViewsWorkflow:    workflows.FlushViews,
			workflows.MaintainViewsWorkflow: workflows.MaintainViews,
			workflows.SendReportsWorkflow:   workflows.SendReports,
		},
		activities: enabled(a.Views, a.Reports),
		schedules: []schedule{
			// At the start, too: Redis may have restarted empty, and its counts are seeded.
			{
				id: workflows.FlushViewsSchedule, workflow: workflows.FlushViewsWorkflow, every: time.Minute,
				atStart: true,
			},
			{
				id: workflows.MaintainViewsSchedule, workflow: workflows.MaintainViewsWorkflow, every: time.Hour,
				atStart: true,
			},
			{id: workflows.SendReportsSchedule, workflow: workflows.SendReportsWorkflow, every: time.Minute},
		},
	}
}
