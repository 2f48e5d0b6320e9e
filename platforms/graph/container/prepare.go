package container

import (
	"context"
	"time"

	"dateline/platforms/network"
)

// Builder makes the containers of one post at one network.
type Builder interface {
	// CreateItem makes the container of attachment i of a carousel. upload says that
	// its bytes have to be sent.
	CreateItem(ctx context.Context, i int) (id string, upload bool, err error)
	// CreateMain makes the container that is published: of the items, or of the
	// single attachment, or of the text alone.
	CreateMain(ctx context.Context, items []string) (id string, upload bool, err error)
	// Upload sends the bytes of attachment i.
	Upload(ctx context.Context, i int, id string) error
	// Status asks how far a container is.
	Status(ctx context.Context, id string) (Status, error)
}

// Prepare brings a post of so many attachments one step on: what is missing of
// its containers is made, and what is there is asked after. Nothing of it
// publishes, so whatever is lost on the way may be made again.
//
// It returns an error only where nothing was gained, so that what was made before
// one is kept.
func Prepare(ctx context.Context, name, text string, attachments int, m Builder) (network.Prepared, error) {
	before, err := parse(text)
	if err != nil {
		return network.Prepared{}, err
	}
	p := preparation{name: name, maker: m, handle: before}
	ready, err := p.advance(ctx, attachments)
	prepared := network.Prepared{Handle: p.handle.String(), Ready: ready, ExpiresAt: p.handle.CreatedAt.Add(containerTTL)}
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

// pollDelay grows with the age of a container: pictures are ready within seconds,
// and long video is asked after once a minute, as Instagram wants it.
func pollDelay(age time.Duration) time.Duration {
	return min(max(age/2, time.Second), time.Minute)
}

type preparation struct {
	name    string
	maker   Builder
	handle  handle
	changed bool // the handle has more in it than before
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
		id, upload, err := p.maker.CreateMain(ctx, items)
		if err != nil {
			return false, err
		}
		p.handle.Main, p.changed = &part{ID: id, Upload: upload}, true
	}
	return p.process(ctx, 0, p.handle.Main)
}

// items makes the containers of a carousel's attachments, all of them before it
// waits for the first, because the network works on them side by side.
func (p *preparation) items(ctx context.Context, attachments int) (done bool, err error) {
	for i := len(p.handle.Items); i < attachments; i++ {
		id, upload, err := p.maker.CreateItem(ctx, i)
		if err != nil {
			return false, err
		}
		p.handle.Items, p.changed = append(p.handle.Items, part{ID: id, Upload: upload}), true
	}
	if p.handle.Main != nil {
		return true, nil // it could not have been made before they were
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
		if err := p.maker.Upload(ctx, i, c.ID); err != nil {
			return false, err
		}
		c.Upload, p.changed = false, true
	}
	status, err := p.maker.Status(ctx, c.ID)
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
