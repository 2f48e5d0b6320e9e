package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"dateline/api/spec"
	"dateline/client"
)

const (
	watchInterval  = 5 * time.Second
	maxWatchEvents = 100 // kept for the terminal view
	minWatchEvents = 4   // lines of the terminal that events get even if it is small
)

// printEvent prints an event in one line, or as a JSON object.
func (s *session) printEvent(e client.StreamedEvent, zone *time.Location) error {
	if s.asJSON {
		return json.NewEncoder(s.out).Encode(e)
	}
	return s.say("%s", eventLine(e, zone))
}

func eventLine(e client.StreamedEvent, zone *time.Location) string {
	parts := []string{e.At.In(zone).Format("15:04:05.000"), plain(e.Type)}
	if e.PostID != "" {
		parts = append(parts, "post "+plain(e.PostID))
	}
	var data map[string]any
	if json.Unmarshal(e.Data, &data) == nil {
		for _, key := range []string{"status", "url", "message", "error", "network", "handle"} {
			if v, ok := data[key].(string); ok && v != "" {
				parts = append(parts, shorten(v, 80))
			}
		}
	}
	return strings.Join(parts, "  ")
}

// watch shows what happens in the workspace.
func (o Options) watch() *cobra.Command {
	c := &cobra.Command{
		Use: "watch", Short: "show live what happens: posts going out, readers and new articles",
		Args: cobra.NoArgs,
		Long: "Shows live what happens in the workspace until it is interrupted: upcoming posts, their\nevents, " +
			"readers on the sites and new articles. If the output is not a terminal, or with\n--json, it prints each " +
			"event of the workspace in one line.",
	}
	return o.connected(c, func(ctx context.Context, s *session, _ []string) error {
		zone, err := s.zone(ctx)
		if err != nil {
			return err
		}
		if s.asJSON || !isTerminal(s.out) {
			err = s.FollowEvents(ctx, nil, func(e client.StreamedEvent) error { return s.printEvent(e, zone) })
		} else {
			err = s.watchScreen(ctx, zone)
		}
		if errors.Is(err, context.Canceled) {
			return nil // interrupted
		}
		return err
	})
}

// screen is the terminal view.
type screen struct {
	mu     sync.Mutex
	events []string
	texts  map[string]string // of posts, by ID
}

func (v *screen) add(line string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.events = append(v.events, line)
	v.events = v.events[max(0, len(v.events)-maxWatchEvents):]
}

// render returns the view as it fits into a terminal: the status, and below it the
// newest events. Without a size it is complete.
func (v *screen) render(status string, width, height int) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	const title = "EVENTS (Ctrl-C ends)"
	lines, events := strings.Split(strings.TrimRight(status, "\n"), "\n"), v.events
	if height > 0 {
		rest := height - 3 // an empty line, the title and the line of the cursor
		shown := min(len(lines), max(rest-minWatchEvents, 1))
		lines = lines[:shown]
		events = events[max(0, len(events)-max(rest-shown, 0)):]
	}
	lines = append(append(lines, "", title), events...)
	var b strings.Builder
	b.WriteString("\x1b[H") // to the start; ECMA-48: CUP, EL and ED
	for _, line := range lines {
		b.WriteString(cut(line, width) + "\x1b[K\n")
	}
	b.WriteString("\x1b[J")
	return b.String()
}

// cut returns the beginning of a line that fits into a number of columns; 0: all.
func cut(line string, columns int) string {
	if columns <= 0 || uniseg.StringWidth(line) <= columns {
		return line
	}
	var b strings.Builder
	used := 0
	for g := uniseg.NewGraphemes(line); g.Next(); {
		if used += g.Width(); used > columns-1 {
			break
		}
		b.WriteString(g.Str())
	}
	return b.String() + "…"
}

// terminalSize returns the columns and lines of a terminal, or zeros if they are unknown.
func terminalSize(w io.Writer) (width, height int) {
	if f, ok := w.(interface{ Fd() uintptr }); ok {
		if width, height, err := term.GetSize(int(f.Fd())); err == nil { //nolint:gosec // file descriptors are small
			return width, height
		}
	}
	return 0, 0
}

// describe returns the line of an event, with the text of its post instead of the ID.
func (s *session) describe(ctx context.Context, v *screen, e client.StreamedEvent, zone *time.Location) string {
	line := eventLine(e, zone)
	if e.PostID == "" {
		return line
	}
	content, known := v.texts[e.PostID]
	if !known {
		if _, p, err := s.readPost(ctx, e.PostID); err == nil {
			content = shorten(p.Content, 40)
		}
		if len(v.texts) >= maxWatchEvents {
			clear(v.texts)
		}
		v.texts[e.PostID] = content
	}
	if content == "" {
		return line
	}
	return strings.Replace(line, "post "+plain(e.PostID), strconv.Quote(content), 1)
}

// watchScreen redraws the view periodically and after each event.
func (s *session) watchScreen(ctx context.Context, zone *time.Location) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	view, changed := &screen{texts: map[string]string{}}, make(chan struct{}, 1)
	go func() {
		cancel(s.FollowEvents(ctx, nil, func(e client.StreamedEvent) error {
			view.add(s.describe(ctx, view, e, zone))
			select {
			case changed <- struct{}{}:
			default:
			}
			return nil
		}))
	}()
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	if _, err := io.WriteString(s.out, "\x1b[2J"); err != nil { // ED: clear the screen
		return err
	}
	for {
		status, err := s.status(ctx, zone)
		if err != nil && ctx.Err() == nil {
			status = "The instance cannot be read: " + plain(err.Error()) + "\n"
		}
		width, height := terminalSize(s.out)
		if _, err := io.WriteString(s.out, view.render(status, width, height)); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		case <-changed:
		}
	}
}

// status returns upcoming posts, readers and new articles. Parts that the token may not
// read are omitted.
func (s *session) status(ctx context.Context, zone *time.Location) (string, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s  %s\n\nNEXT POSTS\n", s.profile.URL, time.Now().In(zone).Format("Mon 2006-01-02 15:04:05 MST"))
	limit, short := 8, 6
	posts, err := s.ListPosts(ctx, &spec.ListPostsParams{
		Limit: &limit, Order: set(spec.Asc), Status: &[]spec.PostStatus{"scheduled", "publishing"},
	})
	if err != nil {
		return "", err
	}
	var rows [][]string
	for _, p := range posts.Value.Posts {
		rows = append(rows, []string{at(p.ScheduledTime, zone), string(p.Status), handles(p), shorten(p.Content, 50)})
	}
	if err := table(&b, []string{"time", "status", "accounts", "text"}, rows); err != nil {
		return "", err
	}
	if sites, err := s.ListSites(ctx); err == nil && len(sites.Value.Sites) > 0 {
		rows = nil
		for _, one := range sites.Value.Sites[:min(len(sites.Value.Sites), limit)] {
			if concurrents, err := s.Concurrents(ctx, one.Id); err == nil {
				rows = append(rows, []string{one.Name, strconv.FormatInt(concurrents.Value.Concurrents, 10)})
			}
		}
		_, _ = b.WriteString("\n")
		if err := table(&b, []string{"site", "concurrents"}, rows); err != nil {
			return "", err
		}
	}
	if found, err := s.SearchArticles(ctx,
		&spec.SearchArticlesParams{Limit: &short, Sort: set(spec.SearchArticlesParamsSort("time"))}); err == nil &&
		len(found.Value.Hits) > 0 {
		rows = nil
		for _, h := range found.Value.Hits {
			rows = append(rows, []string{at(&h.PublishedAt, zone), h.Domain, shorten(h.Title, 70)})
		}
		_, _ = b.WriteString("\n")
		if err := table(&b, []string{"new articles", "domain", "title"}, rows); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}
