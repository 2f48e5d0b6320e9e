package main

import (
	"context"
	"io"
	"log/slog"
	"os"

	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/log/tag"
)

func newLogger(w io.Writer, format string, level slog.Leveler) *slog.Logger {
	handlerOptions := &slog.HandlerOptions{Level: level}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, handlerOptions))
	}
	return slog.New(slog.NewTextHandler(w, handlerOptions))
}

// serverLogger lets the Temporal server log through slog.
type serverLogger struct{ logger *slog.Logger }

var (
	_ log.Logger      = serverLogger{}
	_ log.SLogWrapper = serverLogger{}
)

func (l serverLogger) SLog() *slog.Logger { return l.logger }

func (l serverLogger) Debug(msg string, tags ...tag.Tag) { l.log(slog.LevelDebug, msg, tags) }
func (l serverLogger) Info(msg string, tags ...tag.Tag)  { l.log(slog.LevelInfo, msg, tags) }
func (l serverLogger) Warn(msg string, tags ...tag.Tag)  { l.log(slog.LevelWarn, msg, tags) }
func (l serverLogger) Error(msg string, tags ...tag.Tag) { l.log(slog.LevelError, msg, tags) }

// DPanic is for conditions that must panic in development only; this is not development.
func (l serverLogger) DPanic(msg string, tags ...tag.Tag) { l.log(slog.LevelError, msg, tags) }

// Panic panics because the server relies on not returning from here.
func (l serverLogger) Panic(msg string, tags ...tag.Tag) {
	l.log(slog.LevelError, msg, tags)
	panic(msg) //nolint:forbidigo // what the server expects
}

// Fatal ends the process: a service that cannot start (because of a lost race for a
// port, for example) would otherwise leave a server that looks alive and is not. The
// supervisor restarts it.
func (l serverLogger) Fatal(msg string, tags ...tag.Tag) {
	l.log(slog.LevelError, msg, tags)
	os.Exit(1)
}

func (l serverLogger) log(level slog.Level, msg string, tags []tag.Tag) {
	if !l.logger.Enabled(context.Background(), level) {
		return
	}
	attrs := make([]slog.Attr, len(tags))
	for i, t := range tags {
		attrs[i] = slog.Any(t.Key(), t.Value())
	}
	l.logger.LogAttrs(context.Background(), level, msg, attrs...) //nolint:sloglint // the server words its own messages
}
