package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime/pprof"
	"time"

	"dateline/internal/infra/retry"
)

// A burst is profiled around its second, the sustained rate in the middle of its
// duration.
const (
	herdMargin  = 3 * time.Second
	herdProfile = 5 * time.Second
	rateProfile = 15 * time.Second
	// scheduleProfile covers the beginning of scheduling.
	scheduleProfile = 10 * time.Second
)

// profile writes profiles of the program and of this process, which contains the fake
// network. Without -profiles it does nothing.
func (s *stack) profile(ctx context.Context, o options, from time.Time, length time.Duration, name string) error {
	if o.profiles == "" {
		return nil
	}
	if err := os.MkdirAll(o.profiles, 0o750); err != nil {
		return err
	}
	if err := retry.Sleep(ctx, time.Until(from)); err != nil {
		return err
	}
	fetched := make(chan error, 1)
	go func() {
		err := s.fetch(ctx, "/debug/pprof/heap", filepath.Join(o.profiles, name+"-heap.pprof"))
		fetched <- errors.Join(err, s.fetch(ctx, fmt.Sprintf("/debug/pprof/profile?seconds=%d", int(length.Seconds())),
			filepath.Join(o.profiles, name+".pprof")))
	}()
	own, err := os.Create(filepath.Join(o.profiles, name+"-network.pprof")) //nolint:gosec // the operator names the directory
	if err != nil {
		return err
	}
	defer func() { _ = own.Close() }()
	if err := pprof.StartCPUProfile(own); err != nil {
		return err
	}
	err = <-fetched
	pprof.StopCPUProfile()
	return err
}

func (s *stack) fetch(ctx context.Context, path, file string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.pprof+path, nil) //nolint:gosec // the address is one that this process chose
	if err != nil {
		return err
	}
	answer, err := s.http.Do(request) //nolint:gosec // the address is one that this process chose
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	out, err := os.Create(file) //nolint:gosec // the operator names the directory
	if err != nil {
		return err
	}
	_, err = io.Copy(out, answer.Body)
	return errors.Join(err, out.Close())
}
