package delivery

import (
	"context"
	"errors"

	"dateline/internal/publishing/media"
	"dateline/internal/publishing/scheduling"
	"dateline/platforms/network"
)

// Renderer makes images of what a network takes.
type Renderer interface {
	Render(ctx context.Context, item media.Item, spec media.Spec) (media.Item, error)
}

// asSent are files as they are handed to the network.
func (p *Publisher) asSent(j *job, files []media.Item) []media.Item {
	if p.Media == nil {
		return files
	}
	return scheduling.AsPlanned(files, j.limits)
}

// fit makes what is not out yet as the network takes it. What is sent is known
// by the files that people attached (job.fingerprint), so that other limits at
// another try make no second post of it.
func (p *Publisher) fit(ctx context.Context, j *job) *network.Error {
	if p.Media == nil {
		return nil
	}
	for i := j.next(); i < len(j.segments); i++ {
		s := &j.segments[i]
		s.fitted = nil
		for _, file := range s.files {
			one, problem := p.fitOne(ctx, file, scheduling.Rules(j.limits))
			if problem != nil {
				return problem
			}
			s.fitted = append(s.fitted, one)
		}
	}
	return nil
}

func (p *Publisher) fitOne(ctx context.Context, file media.Item, rules media.Rules) (media.Item, *network.Error) {
	plan := media.Fit(file, rules)
	if plan.Convert == nil {
		return file, nil
	}
	made, err := p.Media.Render(ctx, file, *plan.Convert)
	switch {
	case errors.Is(err, media.ErrCannotRender):
		return file, &network.Error{Class: network.Rejected, Code: "attachment_unfit",
			Message: "The attachment " + file.FileName + " is not as the network takes it, and could not be converted.", Err: err}
	case err != nil:
		return file, &network.Error{Class: network.NotSent, Code: codeUnreadable,
			Message: "The attachment " + file.FileName + " could not be converted, because the object storage or the database is away.", Err: err}
	}
	return made, nil
}

// sent are the files of a segment as the network gets them.
func (s *segment) sent() []media.Item {
	if s.fitted == nil {
		return s.files
	}
	return s.fitted
}
