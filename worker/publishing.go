package worker

import (
	"time"

	"go.temporal.io/sdk/worker"

	"dateline/workflows"
)

const (
	// maxArmedPosts is the maximum number of posts that wait armed in memory, about 130 kB
	// each. What is due at the same second beyond it is sent late.
	maxArmedPosts = 20_000
	// stickyTimeout is how long a workflow task waits for the worker that has the workflow
	// in its cache. A dead worker delays a task by as much.
	stickyTimeout = 15 * time.Second
	// maxMeasured is how many accounts a worker reads concurrently.
	maxMeasured = 4
)

func postOptions() worker.Options {
	return worker.Options{
		MaxConcurrentActivityExecutionSize:      maxArmedPosts,
		MaxConcurrentLocalActivityExecutionSize: 200,
		// The publisher plans its heartbeats itself.
		MaxHeartbeatThrottleInterval: time.Second,
		// Under load a task may wait longer than the default of 5 s; dispatching it to
		// a worker without the workflow in its cache then adds to the load.
		StickyScheduleToStartTimeout: stickyTimeout,
		WorkflowTaskPollerBehavior:   scaledPollers(),
		ActivityTaskPollerBehavior:   scaledPollers(),
	}
}

// publishingPart runs posts, series, media and accounts.
func publishingPart(a Activities) part {
	return part{
		workflows: map[string]any{
			workflows.PostWorkflow:              workflows.Post,
			workflows.ReconcilePostsWorkflow:    workflows.ReconcilePosts,
			workflows.MaterializeSeriesWorkflow: workflows.MaterializeSeries,
			workflows.SweepMediaWorkflow:        workflows.SweepMedia,
			workflows.MaintainAccountsWorkflow:  workflows.MaintainAccounts,
			workflows.RefreshTokenWorkflow:      workflows.RefreshToken,
			workflows.ExportWorkspaceWorkflow:   workflows.ExportWorkspace,
		},
		activities: enabled(a.Publishing, a.Series, a.Library, a.Tokens, a.Archive),
		schedules: []schedule{
			// At the start, too: posts may have waited for Temporal.
			{
				id: workflows.ReconcileSchedule, workflow: workflows.ReconcilePostsWorkflow, every: 30 * time.Second,
				atStart: true,
			},
			{
				id: workflows.MaterializeSchedule, workflow: workflows.MaterializeSeriesWorkflow,
				every: 10 * time.Minute, atStart: true,
			},
			{id: workflows.SweepMediaSchedule, workflow: workflows.SweepMediaWorkflow, every: time.Hour},
			{
				id: workflows.MaintainAccountsSchedule, workflow: workflows.MaintainAccountsWorkflow,
				every: time.Minute, atStart: true,
			},
		},
	}
}

// rulesPart posts articles by rule.
func rulesPart(a Activities) part {
	return part{
		workflows: map[string]any{
			workflows.EvaluateRulesWorkflow: workflows.EvaluateRules,
			workflows.DecideRuleWorkflow:    workflows.DecideRule,
		},
		activities: enabled(a.Rules),
		schedules: []schedule{{
			id: workflows.EvaluateRulesSchedule, workflow: workflows.EvaluateRulesWorkflow, every: time.Minute,
			atStart: true,
		}},
	}
}

// measurePart reads the metrics of posts from the networks.
func measurePart(a Activities) part {
	return part{
		workflows: map[string]any{
			workflows.MeasurePostsWorkflow:   workflows.MeasurePosts,
			workflows.MeasureAccountWorkflow: workflows.MeasureAccount,
		},
		activities: enabled(a.Measure),
		schedules: []schedule{{
			id: workflows.MeasurePostsSchedule, workflow: workflows.MeasurePostsWorkflow, every: time.Minute,
		}},
	}
}
