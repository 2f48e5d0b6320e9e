package workflows

import (
	"errors"
	"fmt"

	"github.com/google/uuid"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/scheduling"
)

// inbox collects what a Post workflow is told while it does something else.
type inbox struct {
	outer    workflow.Context
	canceled bool // the cancellation of outer was taken for a command
	idle     bool // nothing is to be published: a cancellation is not for the post
	wake     workflow.Channel
	channels []workflow.ReceiveChannel
	names    []string
	commands []delivery.Command
	changed  bool
	woken    bool // what waits at Temporal should not wait any longer
}

// newInbox listens to the signals on work, and to the cancellation of outer,
// which it takes for a cancel signal.
func newInbox(outer, work workflow.Context) *inbox {
	b := &inbox{outer: outer, wake: workflow.NewBufferedChannel(work, 1)}
	for _, name := range []string{SignalCancel, SignalEdit, SignalPublishNow, SignalRetry, SignalDiscard, SignalChanged, SignalWake} {
		b.names = append(b.names, name)
		b.channels = append(b.channels, workflow.GetSignalChannel(work, name))
	}
	// A closed channel makes every select return at once, so what selectors
	// listen to is a single value that follows from it.
	workflow.Go(work, func(ctx workflow.Context) {
		outer.Done().Receive(ctx, nil)
		b.wake.Send(ctx, true)
	})
	return b
}

// listen makes a selector return when something comes in.
func (b *inbox) listen(s workflow.Selector) {
	s.AddReceive(b.wake, func(c workflow.ReceiveChannel, _ bool) { c.ReceiveAsync(nil) })
	for i, ch := range b.channels {
		s.AddReceive(ch, func(c workflow.ReceiveChannel, _ bool) {
			var raw converter.RawValue
			c.ReceiveAsync(&raw)
			b.put(b.names[i], raw)
		})
	}
}

// drain takes everything that has come in so far.
func (b *inbox) drain() {
	for i, ch := range b.channels {
		for {
			var raw converter.RawValue
			if !ch.ReceiveAsync(&raw) {
				break
			}
			b.put(b.names[i], raw)
		}
	}
	// Asked here and not only when woken: a timer that fires with the request
	// would otherwise be acted on first.
	if b.outer.Err() != nil && !b.canceled && !b.idle {
		b.canceled = true
		b.commands = append(b.commands, delivery.Command{Name: SignalCancel})
	}
}

func (b *inbox) put(name string, raw converter.RawValue) {
	if name == SignalChanged {
		b.changed = true
		return
	}
	if name == SignalWake {
		b.woken = true
		return
	}
	command := delivery.Command{Name: name}
	switch name {
	case SignalRetry, SignalDiscard:
		targets, err := targetsOf(raw)
		if err != nil {
			command.Broken = fmt.Sprintf(`The input of the signal %q must be left out, or be an object like {"targets": ["<id>"]}.`, name)
		}
		command.Targets = targets
	case SignalEdit:
		var edit EditSignal
		if err := converter.GetDefaultDataConverter().FromPayload(raw.Payload(), &edit); err != nil || raw.Payload() == nil {
			command.Broken = fmt.Sprintf(`The input of the signal %q must be an object like {"content": "…"}.`, name)
		}
		command.Edit = scheduling.Edit{Content: edit.Content, ScheduledTime: edit.ScheduledTime, TimeZone: edit.TimeZone}
	}
	b.commands = append(b.commands, command)
}

// targetsOf reads which dead letters a signal is for; without input it is for
// all of the post. A misspelt field must not pass for that.
func targetsOf(raw converter.RawValue) ([]uuid.UUID, error) {
	if raw.Payload() == nil {
		return nil, nil
	}
	var fields map[string]any
	var signal TargetsSignal
	read := converter.GetDefaultDataConverter().FromPayload
	if err := read(raw.Payload(), &fields); err != nil || len(fields) == 0 {
		return nil, err
	}
	if _, named := fields["targets"]; !named || len(fields) > 1 {
		return nil, errNoTarget
	}
	if err := read(raw.Payload(), &signal); err != nil {
		return nil, err
	}
	if len(signal.Targets) == 0 {
		return nil, errNoTarget
	}
	return signal.Targets, nil
}

var errNoTarget = errors.New("no target is named")

// take hands out the commands that have come in, in order.
func (b *inbox) take() []delivery.Command {
	b.drain()
	commands := b.commands
	b.commands = nil
	return commands
}

// empty says that there is nothing to react to.
func (b *inbox) empty() bool {
	b.drain()
	return len(b.commands) == 0 && !b.changed
}
