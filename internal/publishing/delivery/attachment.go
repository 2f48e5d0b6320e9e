package delivery

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"dateline/internal/publishing/media"
	"dateline/internal/publishing/scheduling"
	"dateline/platforms/network"
)

// Links gives addresses at which a network can fetch stored files itself.
type Links interface {
	PresignGet(ctx context.Context, key string, life time.Duration) (string, error)
}

// attachment is a stored file as adapters read it.
func (p *Publisher) attachment(file media.Item) network.Media {
	m := network.Media{MediaInfo: scheduling.MediaInfos([]media.Item{file})[0], FileName: file.FileName, Open: media.Reader(p.Objects, file)}
	if p.Links != nil {
		m.URL = func(ctx context.Context, life time.Duration) (string, error) {
			return p.Links.PresignGet(ctx, file.ObjectKey, life)
		}
	}
	return m
}

// reading notices that our own storage failed, for which no network is to blame.
type reading struct{ lost atomic.Pointer[lostFile] }

type lostFile struct {
	name string
	err  error
}

// watch gives the same attachment, observed.
func (r *reading) watch(m network.Media) network.Media {
	open := m.Open
	m.Open = func(ctx context.Context) (io.ReadCloser, error) {
		body, err := open(ctx)
		if err != nil {
			r.lost.Store(&lostFile{m.FileName, err})
		}
		return body, err
	}
	return m
}

func (r *reading) failed() *lostFile { return r.lost.Load() }

func (r *reading) problem() *network.Error {
	f := r.failed()
	return &network.Error{Class: network.NotSent, Code: codeUnreadable,
		Message: "The attachment " + f.name + " could not be read from the object storage.", Err: f.err}
}
