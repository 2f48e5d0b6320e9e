package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3afero"
	"github.com/spf13/afero"
)

// startS3 serves S3 from a directory, in this process. It suits one machine: an upload in parts is held in memory until
// it is complete, listings read the whole bucket, and a part of a key is at most 255 bytes long, as file names are.
// Credentials are random, kept for their owner only, and checked by s3Auth, since gofakes3 does not check any.
func (h *Host) startS3(context.Context) (engine, error) {
	accessKey, err := h.secret("s3-access-key")
	if err != nil {
		return engine{}, err
	}
	secretKey, err := h.secret("s3-secret-key")
	if err != nil {
		return engine{}, err
	}
	spool := h.path("s3", "incoming")
	if err := errors.Join(os.RemoveAll(spool), os.MkdirAll(spool, 0o700)); err != nil {
		return engine{}, fmt.Errorf("prepare the S3 directory: %w", err)
	}
	backend, err := s3afero.MultiBucket(atomicFs{afero.NewBasePathFs(afero.NewOsFs(), h.path("s3"))})
	if err != nil {
		return engine{}, fmt.Errorf("open the S3 directory: %w", err)
	}
	exists, err := backend.BucketExists(h.cfg.S3Bucket)
	if err == nil && !exists {
		err = backend.CreateBucket(h.cfg.S3Bucket)
	}
	if err != nil {
		return engine{}, fmt.Errorf("create the S3 bucket %s: %w", h.cfg.S3Bucket, err)
	}
	listener, err := h.ports.listen(h.cfg.S3Port)
	if err != nil {
		return engine{}, fmt.Errorf("start the S3 server: %w", err)
	}
	started := serveS3(listener, s3Auth(accessKey, secretKey, s3Spool(spool, gofakes3.New(backend).Server())))
	started.fill = func(e *Engines) {
		e.S3Endpoint = "http://" + listener.Addr().(*net.TCPAddr).String()
		e.S3AccessKey, e.S3SecretKey = accessKey, secretKey
	}
	return started, nil
}

func serveS3(listener net.Listener, handler http.Handler) engine {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	ended := make(chan error, 1)
	go func() {
		defer close(ended)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			ended <- fmt.Errorf("the S3 server failed: %w", err)
		}
	}()
	return engine{
		name: "s3",
		stop: func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			if err := server.Shutdown(ctx); err != nil {
				_ = server.Close()
			}
			return <-ended // nil once it is closed.
		},
		ended: ended,
	}
}
