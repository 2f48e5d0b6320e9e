package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"dateline/internal/embedded/programs"
	"dateline/internal/embedded/temporalserver"
)

func (h *Host) startTemporal(ctx context.Context, attributes map[string]string) (engine, error) {
	database := h.path("temporal", "temporal.db")
	if err := os.MkdirAll(h.path("temporal"), 0o700); err != nil {
		return engine{}, err
	}
	if err := stopOrphans(database, syscall.SIGTERM, 12*time.Second, "temporal"); err != nil {
		return engine{}, fmt.Errorf("temporal: %w", err)
	}
	version, err := programs.TemporalVersion(ctx, h.temporal)
	if err != nil {
		return engine{}, err
	}
	warning, err := temporalserver.PrepareFile(database, version)
	if err != nil {
		return engine{}, fmt.Errorf("the file of Temporal is not usable: %w", err)
	}
	if warning != "" {
		warning = fmt.Sprintf("The file of Temporal in %s was moved away, because %s. Workflows start again from the "+
			"database; nothing is published twice or lost.",
			h.path("temporal"), warning)
	}
	server := temporalserver.Server{
		Database: database, Namespace: h.cfg.TemporalNamespace, SearchAttributes: attributes,
	}
	c, _, err := h.startOnPort(ctx, h.cfg.TemporalPort, func(port int) (childSpec, error) {
		server.Port = port
		var err error
		if server.UIPort, err = h.ports.pick(h.cfg.TemporalUIPort); err != nil {
			return childSpec{}, err
		}
		server := server
		return childSpec{
			name: "temporal", path: h.temporal, dir: h.path("temporal"), stopSignal: syscall.SIGTERM,
			grace: 15 * time.Second,
			args:  server.Args(), env: temporalserver.Env(),
			ready: func(ctx context.Context) error {
				err := server.Ready(ctx)
				var refused temporalserver.AttributeError
				if errors.As(err, &refused) {
					return permanent{err}
				}
				if err == nil {
					err = temporalserver.MarkReady(database, version)
				}
				return err
			},
		}, nil
	})
	if err != nil {
		return engine{}, err
	}
	return engine{
		name: "temporal", child: c,
		fill: func(e *Engines) {
			e.TemporalAddress = server.Address()
			if e.TemporalUIURL == "" {
				e.TemporalUIURL = fmt.Sprintf("http://%s:%d", loopback, server.UIPort)
			}
			if warning != "" {
				e.Warnings = append(e.Warnings, warning)
			}
		},
	}, nil
}
