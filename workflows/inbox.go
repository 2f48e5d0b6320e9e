package workflows

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/scheduling"
)

// inbox collects the signals that a Post workflow receives while it is busy.
type inbox struct {
	outer         workflow.Context
	isCancelTaken bool // the cancellation of outer was turned into a command
	isIdle        bool // nothing to publish: a cancellation does not concern the post
	wake          workflow.Channel
	channels      []workflow.ReceiveChannel
	names         []string
	commands      []delivery.Command
	received      map[string]int // signals by name
	isChanged     bool           // the post may differ from what was read
	isWoken       bool           // activities that wait at Temporal should try again
}

// newInbox receives the signals on work, and the cancellation of outer, which it
// handles like a cancel signal.
func newInbox(outer, work workflow.Context) *inbox {
	b := &inbox{outer: outer, wake: workflow.NewBufferedChannel(work, 1), received: map[string]int{}}
	for _, name := range []string{
		SignalCancel, SignalEdit, SignalPublishNow, SignalRetry, SignalDiscard, SignalChanged,
		SignalWake,
	} {
		b.names = append(b.names, name)
		b.channels = append(b.channels, workflow.GetSignalChannel(work, name))
	}
	// A closed channel makes every select return immediately, so selectors receive a
	// single value that follows from it.
	workflow.Go(work, func(ctx workflow.Context) {
		outer.Done().Receive(ctx, nil)
		b.wake.Send(ctx, true)
	})
	return b
}

// listen makes a selector return when a signal arrives.
func (b *inbox) listen(s workflow.Selector) {
	s.AddReceive(b.wake, func(c workflow.ReceiveChannel, _ bool) { c.ReceiveAsync(nil) })
	for i, ch := range b.channels {
		s.AddReceive(ch, func(c workflow.ReceiveChannel, _ bool) {
			var raw converter.RawValue
			c.ReceiveAsync(&raw)
			b.receive(b.names[i], raw)
		})
	}
}

// drain receives all signals that have arrived so far.
func (b *inbox) drain() {
	for i, ch := range b.channels {
		for {
			var raw converter.RawValue
			if !ch.ReceiveAsync(&raw) {
				break
			}
			b.receive(b.names[i], raw)
		}
	}
	// Checked here and not only on wake-up: a timer that fires with the request would
	// otherwise be handled first.
	if b.outer.Err() != nil && !b.isCancelTaken && !b.isIdle {
		b.isCancelTaken = true
		b.commands = append(b.commands, delivery.Command{
			Name: SignalCancel, Key: commandKey(b.outer, "request", SignalCancel, ""),
		})
	}
}

// changed makes the workflow read the post again, as the signal of that name.
func (b *inbox) changed() {
	b.isChanged = true
	b.wake.SendAsync(true)
}

func (b *inbox) receive(name string, raw converter.RawValue) {
	if name == SignalChanged {
		b.isChanged = true
		return
	}
	if name == SignalWake {
		b.isWoken = true
		return
	}
	b.received[name]++
	command := parseCommand(name, raw)
	command.Key = commandKey(b.outer, "signal", name, strconv.Itoa(b.received[name]))
	b.commands = append(b.commands, command)
}

// commandKey identifies a command of this workflow. Signals are counted by name: signals of
// other names that arrive before a workflow task is repeated may be received before them.
func commandKey(ctx workflow.Context, kind, name, id string) string {
	return strings.Join([]string{workflow.GetInfo(ctx).OriginalRunID, kind, name, id}, "/")
}

// parseCommand reads the input of a signal or update.
func parseCommand(name string, raw converter.RawValue) delivery.Command {
	command := delivery.Command{Name: name}
	switch name {
	case SignalRetry, SignalDiscard:
		targets, err := parseTargets(raw)
		if err != nil {
			command.InputError = fmt.Sprintf(
				`The input of %q must be empty, or be an object like {"targets": ["<id>"]}.`, name)
		}
		command.Targets = targets
	case SignalEdit:
		var edit EditSignal
		if err := converter.GetDefaultDataConverter().FromPayload(raw.Payload(), &edit); err != nil ||
			raw.Payload() == nil {
			command.InputError = fmt.Sprintf(`The input of %q must be an object like {"content": "…"}.`, name)
		}
		command.Edit = scheduling.Edit{
			Content: edit.Content, ScheduledTime: edit.ScheduledTime, TimeZone: edit.TimeZone,
		}
	}
	return command
}

// parseTargets reads which dead letters a signal is for; without input it is for
// all of the post. A misspelled field must not mean all.
func parseTargets(raw converter.RawValue) ([]uuid.UUID, error) {
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

// news returns whether commands or a change have arrived.
func (b *inbox) news() event {
	b.drain()
	switch {
	case len(b.commands) > 0:
		return eventCommanded
	case b.isChanged:
		return eventChanged
	default:
		return eventUnchanged
	}
}

// takeCommands returns the commands that have arrived, in order.
func (b *inbox) takeCommands() []delivery.Command {
	b.drain()
	commands := b.commands
	b.commands = nil
	return commands
}

// isEmpty reports whether there is nothing to react to.
func (b *inbox) isEmpty() bool { return b.news() == eventUnchanged }
