package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/api/spec"
)

const (
	reconnectDelay = time.Second
	maxReconnects  = 30 // without an event in between
	maxEventBytes  = 1 << 20
)

// FollowPost calls do for each event of a post, starting with its first, until the post
// is final. It reconnects when the stream is interrupted.
func (c *Client) FollowPost(ctx context.Context, id uuid.UUID, do func(StreamedEvent) error) error {
	return follow(ctx, true, do, func(last string) (*http.Response, error) {
		params := &spec.PostEventsParams{}
		if last != "" {
			params.LastEventID = &last
		}
		return c.postEvents(ctx, id, params)
	})
}

// FollowEvents calls do for each new event of the workspace until ctx ends. It reconnects when
// the stream is interrupted.
func (c *Client) FollowEvents(ctx context.Context, types []string, do func(StreamedEvent) error) error {
	return follow(ctx, false, do, func(last string) (*http.Response, error) {
		params := &spec.WorkspaceEventsParams{}
		if len(types) > 0 {
			params.Type = &types
		}
		if last != "" {
			params.LastEventID = &last
		}
		return c.workspaceEvents(ctx, params)
	})
}

// errStop wraps an error of do, after which the stream is not opened again.
type errStop struct{ error }

func follow(
	ctx context.Context, ends bool, do func(StreamedEvent) error, open func(last string) (*http.Response, error),
) error {
	last, failures := "", 0
	for {
		err := readStream(open, &last, func(e StreamedEvent) error {
			failures = 0
			return do(e)
		})
		var refused *Error
		var stop errStop
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && ends:
			return nil
		case errors.As(err, &stop):
			return stop.error
		case errors.As(err, &refused) && refused.Status < http.StatusInternalServerError &&
			refused.Status != http.StatusTooManyRequests:
			return err
		}
		if failures++; failures > maxReconnects {
			return fmt.Errorf("the event stream is interrupted: %w", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(reconnectDelay):
		}
	}
}

// readStream reads one response. An end of the stream is no error.
func readStream(open func(last string) (*http.Response, error), last *string, do func(StreamedEvent) error) error {
	response, err := open(*last)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(response.Body, maxEventBytes))
		return Failure(response.StatusCode, body)
	}
	scanner := bufio.NewScanner(response.Body)
	scanner.Buffer(nil, maxEventBytes)
	id, event, data := *last, "", ""
	for scanner.Scan() {
		field, value, _ := strings.Cut(scanner.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case scanner.Text() != "":
			switch field {
			case "id":
				id = value
			case "event":
				event = value
			case "data":
				data += value
			}
			continue
		case event == "closed":
			return closed(data)
		case data != "":
			var e StreamedEvent
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				return err
			}
			if err := do(e); err != nil {
				return errStop{err}
			}
		}
		*last, event, data = id, "", ""
	}
	return scanner.Err()
}

// closed returns the error for the event that ends a stream, because the access ended.
func closed(data string) error {
	e := Error{Status: http.StatusUnauthorized}
	var reason struct{ Code, Message string }
	if json.Unmarshal([]byte(data), &reason) == nil {
		e.Code, e.Detail = reason.Code, reason.Message
	}
	return &e
}
