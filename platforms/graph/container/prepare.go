package container

import (
	"context"
	"time"

	"dateline/platforms/network"
)

// Builder creates the containers of one post at one network.
type Builder interface {
	// CreateItem creates the container of attachment i of a carousel. upload
	// means that its bytes have to be sent with Upload.
	CreateItem(ctx context.Context, i int) (id string, upload bool, err error)
	// CreateMain creates the container that is published: of the carousel's
	// items, of the single attachment, or of the text only.
	CreateMain(ctx context.Context, items []string) (id string, upload bool, err error)
	// Upload sends the bytes of attachment i.
	Upload(ctx context.Context, i int, id string) error
	// Status reads the state of a container.
	Status(ctx context.Context, id string) (Status, error)
}

// Prepare advances a post with the given number of attachments: it creates the
// containers that are missing, and reads the state of those that exist. It does
// not publish, so everything that is lost on the way can be created again.
//
// It returns an error only if the handle did not change, so that containers
// created before an error are kept.
func Prepare(ctx context.Context, name, text string, attachments int, b Builder) (network.Prepared, error) {
	before, err := parse(text)
	if err != nil {
		return network.Prepared{}, err
	}
	p := preparation{name: name, builder: b, handle: before}
	ready, err := p.advance(ctx, attachments)
	prepared := network.Prepared{
		Handle: p.handle.String(), Ready: ready, ExpiresAt: p.handle.CreatedAt.Add(containerTTL),
	}
	if err != nil {
		e := network.AsError(err)
		if !p.changed || e.Class == network.Rejected || e.Class == network.Auth || e.Code == network.CodeMediaExpired {
			return network.Prepared{}, err
		}
	}
	if !ready {
		prepared.CheckAfter = pollDelay(time.Since(p.handle.CreatedAt))
	}
	return prepared, nil
}

// pollDelay grows with the age of a container: images are ready within seconds,
// and the state of long videos is read once a minute, as Instagram recommends.
func pollDelay(age time.Duration) time.Duration {
	return min(max(age/2, time.Second), time.Minute)
}

type preparation struct {
	name    string
	builder Builder
	handle  handle
	changed bool // the handle differs from the one that Prepare started with
}

func (p *preparation) advance(ctx context.Context, attachments int) (ready bool, err error) {
	var items []string
	if attachments > 1 {
		if done, err := p.items(ctx, attachments); err != nil || !done {
			return false, err
		}
		for _, item := range p.handle.Items {
			items = append(items, item.ID)
		}
	}
	if p.handle.Main == nil {
		id, upload, err := p.builder.CreateMain(ctx, items)
		if err != nil {
			return false, err
		}
		p.handle.Main, p.changed = &part{ID: id, Upload: upload}, true
	}
	return p.process(ctx, 0, p.handle.Main)
}

// items creates the containers of all attachments of a carousel before it waits
// for the first, because the network processes them concurrently.
func (p *preparation) items(ctx context.Context, attachments int) (done bool, err error) {
	for i := len(p.handle.Items); i < attachments; i++ {
		id, upload, err := p.builder.CreateItem(ctx, i)
		if err != nil {
			return false, err
		}
		p.handle.Items, p.changed = append(p.handle.Items, part{ID: id, Upload: upload}), true
	}
	if p.handle.Main != nil {
		return true, nil // the main container is created after its items are ready
	}
	for i := range p.handle.Items {
		if done, err := p.process(ctx, i, &p.handle.Items[i]); err != nil || !done {
			return false, err
		}
	}
	return true, nil
}

func (p *preparation) process(ctx context.Context, i int, c *part) (done bool, err error) {
	if c.Done {
		return true, nil
	}
	if c.Upload {
		if err := p.builder.Upload(ctx, i, c.ID); err != nil {
			return false, err
		}
		c.Upload, p.changed = false, true
	}
	status, err := p.builder.Status(ctx, c.ID)
	if err != nil {
		return false, err
	}
	if problem := status.check(p.name); problem != nil {
		return false, problem
	}
	if status.State == InProgress {
		return false, nil
	}
	c.Done, p.changed = true, true
	return true, nil
}
