package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"dateline/internal/embedded/s3server"
)

// startS3 starts the S3 server (package s3server) in this process, with random credentials that only the owner can
// read.
func (h *Host) startS3() (engine, error) {
	accessKey, err := h.secret("s3-access-key")
	if err != nil {
		return engine{}, err
	}
	secretKey, err := h.secret("s3-secret-key")
	if err != nil {
		return engine{}, err
	}
	handler, err := s3server.New(s3server.Options{
		Dir: h.path("s3"), Bucket: h.cfg.S3Bucket, AccessKey: accessKey, SecretKey: secretKey,
	})
	if err != nil {
		return engine{}, err
	}
	listener, err := h.ports.listen(h.cfg.S3Port)
	if err != nil {
		return engine{}, fmt.Errorf("starting the S3 server: %w", err)
	}
	started := serveS3(listener, handler)
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
