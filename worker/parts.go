package worker

import (
	"reflect"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"dateline/workflows"
)

// taskQueue is a task queue with the parts of the product that run on it.
type taskQueue struct {
	name    string
	options worker.Options
	parts   []part
}

// part is what one part of the product adds to its task queue. A part without activities is
// off: its workflows are not run, and its schedules are deleted, because no worker would run
// them.
type part struct {
	workflows  map[string]any // by the name of the type
	activities []any
	schedules  []schedule
}

// schedule starts a workflow at intervals. A run that is still in progress makes the next
// one skip. Runs missed by more than catchUp are not made up for, because the next one does
// the same.
type schedule struct {
	id, workflow string
	every        time.Duration
	offset       time.Duration // of the first run after midnight UTC
	catchUp      time.Duration // 0: a minute
	atStart      bool          // also run when a worker starts
}

// taskQueues are all task queues. Their activities decide which parts are on.
func taskQueues(a Activities) []taskQueue {
	return []taskQueue{
		{workflows.PostQueue, postOptions(), []part{publishingPart(a), audiencePart(a), rulesPart(a)}},
		{workflows.WebhookQueue, webhookOptions(), []part{webhooksPart(a)}},
		{workflows.CrawlQueue, crawlOptions(a), []part{crawlPart(a), hubsPart(a)}},
		{
			workflows.SearchQueue,
			worker.Options{MaxConcurrentActivityExecutionSize: 4},
			[]part{searchPart(a), storiesPart(a)},
		},
		{
			workflows.MeasureQueue,
			worker.Options{MaxConcurrentActivityExecutionSize: maxMeasured},
			[]part{measurePart(a)},
		},
	}
}

// scaledPollers is how many tasks a busy queue polls at a time.
func scaledPollers() worker.PollerBehavior {
	return worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{})
}

// isOn reports whether any part of the queue is on.
func (q taskQueue) isOn() bool { return slices.ContainsFunc(q.parts, part.isOn) }

func (p part) isOn() bool { return len(p.activities) > 0 }

// worker prepares the worker of the queue for the parts that are on.
func (q taskQueue) worker(c client.Client, identity, build string) worker.Worker {
	o := q.options
	o.Identity, o.WorkerStopTimeout, o.DeploymentOptions = identity, stopTimeout, recordedBuild(build)
	w := worker.New(c, q.name, o)
	for _, p := range q.parts {
		if p.isOn() {
			p.register(w)
		}
	}
	return w
}

// NewQueue prepares the worker of a single task queue.
func NewQueue(c client.Client, name string, a Activities) worker.Worker {
	all := taskQueues(a)
	at := slices.IndexFunc(all, func(q taskQueue) bool { return q.name == name })
	return all[at].worker(c, "", "")
}

func (p part) register(w worker.Registry) {
	for name, run := range p.workflows {
		w.RegisterWorkflowWithOptions(run, workflow.RegisterOptions{Name: name})
	}
	for _, a := range p.activities {
		w.RegisterActivityWithOptions(a, activity.RegisterOptions{})
	}
}

// enabled returns the activities that are not nil pointers.
func enabled(all ...any) (on []any) {
	for _, a := range all {
		if !reflect.ValueOf(a).IsNil() {
			on = append(on, a)
		}
	}
	return on
}

// options returns what the client needs to create the schedule on a task queue.
func (s schedule) options(queue string) client.ScheduleOptions {
	if s.catchUp == 0 {
		s.catchUp = time.Minute
	}
	return client.ScheduleOptions{
		ID: s.id,
		Spec: client.ScheduleSpec{
			Intervals: []client.ScheduleIntervalSpec{{Every: s.every, Offset: s.offset}},
		},
		Overlap:            enumspb.SCHEDULE_OVERLAP_POLICY_SKIP,
		CatchupWindow:      s.catchUp,
		Action:             &client.ScheduleWorkflowAction{ID: s.id, Workflow: s.workflow, TaskQueue: queue},
		TriggerImmediately: s.atStart,
	}
}
