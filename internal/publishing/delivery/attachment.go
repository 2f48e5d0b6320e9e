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

// Links returns URLs from which a network can fetch stored files.
type Links interface {
	PresignGet(ctx context.Context, key string, life time.Duration) (string, error)
}

// attachments presents stored files to adapters.
type attachments struct {
	objects media.Objects
	links   Links
}

func (a attachments) media(file media.Item) network.Media {
	m := network.Media{
		MediaInfo: scheduling.MediaInfos([]media.Item{file})[0], FileName: file.FileName,
		Open: media.Reader(a.objects, file),
	}
	if a.links != nil {
		m.URL = func(ctx context.Context, life time.Duration) (string, error) {
			return a.links.PresignGet(ctx, file.ObjectKey, life)
		}
	}
	return m
}

// readMonitor notices that our own storage failed, which is not the network's
// fault.
type readMonitor struct{ lost atomic.Pointer[lostFile] }

type lostFile struct {
	name string
	err  error
}

// watch returns the same attachment, monitored.
func (r *readMonitor) watch(m network.Media) network.Media {
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

func (r *readMonitor) hasFailed() bool { return r.lost.Load() != nil }

func (r *readMonitor) problem() *network.Error {
	f := r.lost.Load()
	return &network.Error{
		Class: network.NotSent, Code: codeUnreadable,
		Message: "The attachment " + f.name + " could not be read from the object storage.", Err: f.err,
	}
}
