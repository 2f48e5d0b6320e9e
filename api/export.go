package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/infra/csvio"
	"dateline/internal/infra/optional"
	"dateline/internal/infra/timezone"
	"dateline/internal/publishing/post"
)

// exportPage is the number of posts of an export in memory.
const exportPage = 500

// ExportPosts streams posts in the format of the bulk request.
func (s *PostHandler) ExportPosts(
	ctx context.Context, r spec.ExportPostsRequestObject,
) (spec.ExportPostsResponseObject, error) {
	f := post.Filter{
		WorkspaceID: principal(ctx).WorkspaceID, From: r.Params.From, To: r.Params.To,
		AccountID: r.Params.Account, Ascending: true, Limit: exportPage,
	}
	for _, status := range optional.Value(r.Params.Status) {
		f.Statuses = append(f.Statuses, post.Status(status))
	}
	// Read the first page before sending anything, so that an unavailable database can
	// still be reported.
	first, err := s.Store.Posts(ctx, f)
	if err != nil {
		return nil, err
	}
	return export{ctx: ctx, posts: s, filter: f, page: first, csv: string(optional.Value(r.Params.Format)) == "csv"},
		nil
}

type export struct {
	ctx    context.Context
	posts  *PostHandler
	filter post.Filter
	page   []post.Post
	csv    bool
}

// VisitExportPostsResponse writes all pages.
func (e export) VisitExportPostsResponse(w http.ResponseWriter) error {
	contentType, name := "application/x-ndjson", "posts.ndjson"
	if e.csv {
		contentType, name = "text/csv; charset=utf-8", "posts.csv"
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	if e.csv {
		if _, err := w.Write(csvio.Write([]byte(csvio.ByteOrderMark), exportColumns())); err != nil {
			return nil //nolint:nilerr // the reader went away
		}
	}
	for {
		body, err := e.rows()
		if err == nil {
			_, err = w.Write(body)
		}
		if err == nil && len(e.page) == exportPage {
			last := e.page[exportPage-1]
			at := last.ScheduledTime
			if at.IsZero() {
				at = last.CreatedAt
			}
			e.filter.AfterTime, e.filter.AfterID = &at, &last.ID
			e.page, err = e.posts.Store.Posts(e.ctx, e.filter)
			if err == nil && control.Flush() == nil {
				continue
			}
		}
		if err != nil {
			// The status is already sent. Abort the connection, so that the client notices
			// that the export is incomplete.
			e.posts.Log.Error("an export broke off", "error", err)
			_ = control.SetWriteDeadline(time.Unix(1, 0))
		}
		return nil
	}
}

func exportColumns() []string {
	return []string{
		"id", "status", "content", "scheduled_time", "time_zone", "accounts", "language", "thread", "options",
		"overrides", "attachments", "thread_parent_id", "drop_if_late_minutes", "draft", "posted_at", "urls",
		"track_links",
	}
}

func (e export) rows() (body []byte, err error) {
	for _, p := range e.page {
		row := exportRow(p)
		if e.csv {
			cells, err := exportCells(row)
			if err != nil {
				return nil, err
			}
			body = csvio.Write(body, cells)
			continue
		}
		raw, err := json.Marshal(row)
		if err != nil {
			return nil, err
		}
		body = append(append(body, raw...), '\n')
	}
	return body, nil
}

func exportRow(p post.Post) spec.BulkPost {
	id, status := p.ID.String(), string(p.Status)
	row := spec.BulkPost{
		Id: &id, Status: &status, Content: p.Content, TimeZone: optional.Of(p.TimeZone),
		Language: optional.Of(p.Language),
	}
	if !p.ScheduledTime.IsZero() {
		at := p.ScheduledTime
		if zone, err := timezone.Load(p.TimeZone); err == nil {
			at = at.In(zone)
		}
		text := at.Format(time.RFC3339Nano)
		row.ScheduledTime = &text
	}
	row.Draft, row.TrackLinks = optional.Of(p.Status == post.Draft), optional.Of(p.LinkBase != "")
	if len(p.AttachmentIDs) > 0 {
		row.Attachments = idTexts(p.AttachmentIDs)
	}
	if len(p.Thread) > 0 {
		row.Thread = exportThread(p.Thread)
	}
	row.Options = optionsJSON(p.Options)
	if p.ThreadParentID != nil {
		row.ThreadParentId = optional.Of(p.ThreadParentID.String())
	}
	if p.LateLimit > 0 {
		minutes := int(p.LateLimit.Minutes())
		row.DropIfLateMinutes = &minutes
	}
	if p.PostedAt != nil {
		row.PostedAt = optional.Of(p.PostedAt.Format(time.RFC3339Nano))
	}
	var accounts, urls []string
	overrides := map[string]spec.Override{}
	for _, t := range p.Targets {
		accounts = append(accounts, t.AccountID.String())
		if t.RemoteURL != "" {
			urls = append(urls, t.RemoteURL)
		}
		if o := t.Override; o != nil {
			out := spec.Override{Content: o.Content, Options: (*spec.PostOptions)(o.Options)}
			if o.AttachmentIDs != nil {
				out.Attachments = idTexts(*o.AttachmentIDs)
			}
			if o.Thread != nil {
				out.Thread = exportThread(*o.Thread)
			}
			overrides[t.AccountID.String()] = out
		}
	}
	if len(accounts) > 0 {
		row.Accounts = &accounts
	}
	if len(urls) > 0 {
		row.Urls = &urls
	}
	if len(overrides) > 0 {
		row.Overrides = &overrides
	}
	return row
}

func idTexts(ids []uuid.UUID) *[]string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	return &texts
}

func exportThread(segments []post.Segment) *spec.Thread {
	thread := make(spec.Thread, len(segments))
	for i, s := range segments {
		thread[i] = spec.Segment{Content: s.Content, AfterMinutes: optional.Of(s.AfterMinutes)}
		if len(s.AttachmentIDs) > 0 {
			thread[i].Attachments = idTexts(s.AttachmentIDs)
		}
	}
	return &thread
}

// exportCells returns the cells in the order of exportColumns.
func exportCells(row spec.BulkPost) ([]string, error) {
	var thread, options, overrides, late, draft, track string
	for value, to := range map[any]*string{row.Thread: &thread, row.Options: &options, row.Overrides: &overrides} {
		raw, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		if string(raw) != "null" {
			*to = string(raw)
		}
	}
	if row.DropIfLateMinutes != nil {
		late = strconv.Itoa(*row.DropIfLateMinutes)
	}
	if row.Draft != nil {
		draft = "true"
	}
	if row.TrackLinks != nil {
		track = "true"
	}
	cells := []string{
		optional.Value(row.Id), optional.Value(row.Status), row.Content, optional.Value(row.ScheduledTime),
		optional.Value(row.TimeZone),
		strings.Join(optional.Value(row.Accounts), ";"),
		optional.Value(row.Language), thread, options, overrides, strings.Join(optional.Value(row.Attachments), ";"),
		optional.Value(row.ThreadParentId), late, draft,
		optional.Value(row.PostedAt), strings.Join(optional.Value(row.Urls), ";"), track,
	}
	for i := range cells {
		cells[i] = csvio.Escape(cells[i])
	}
	return cells, nil
}
