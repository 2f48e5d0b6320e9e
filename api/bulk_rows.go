package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"

	"dateline/api/spec"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/csvio"

	"dateline/internal/publishing/scheduling"
)

// rowReader reads the rows of a bulk request and validates each against openapi.yaml.
type rowReader struct{ schema *openapi3.Schema }

func newRowReader(doc *openapi3.T) (*rowReader, error) {
	ref := doc.Components.Schemas["BulkPost"]
	if ref == nil {
		return nil, errors.New("openapi.yaml has no BulkPost")
	}
	return &rowReader{ref.Value}, nil
}

// read returns an error if the body is not a list of rows. Problems of a row are part of
// the row.
func (r *rowReader) read(contentType string, raw []byte) ([]scheduling.Row, error) {
	var rows []scheduling.Row
	var err error
	if contentType == "text/csv" {
		rows, err = r.csv(string(raw))
	} else {
		rows = r.ndjson(raw)
	}
	switch {
	case err != nil:
	case len(rows) == 0:
		err = badBody("empty", "There is no row in the body.")
	case len(rows) > bulkMaxRows:
		err = badBody("too_many", fmt.Sprintf("Send at most %d rows at once.", bulkMaxRows))
	}
	return rows, err
}

func badBody(code, message string) error {
	return apperr.InvalidFields(apperr.FieldError{Field: "body", Code: code, Message: message})
}

func (r *rowReader) ndjson(raw []byte) []scheduling.Row {
	var rows []scheduling.Row
	number := 0
	for line := range bytes.SplitSeq(bytes.TrimPrefix(raw, []byte(csvio.ByteOrderMark)), []byte("\n")) {
		number++
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if len(rows) > bulkMaxRows {
			return rows
		}
		rows = append(rows, r.row(number, line))
	}
	return rows
}

// row parses a JSON object as strictly as the body of a single request.
func (r *rowReader) row(number int, raw []byte) scheduling.Row {
	row := scheduling.Row{Number: number}
	var value any
	if !utf8.Valid(raw) || json.Unmarshal(raw, &value) != nil {
		row.Problems = []apperr.FieldError{apperr.Field("row", "not_json", "This is not a JSON object in UTF-8.")}
		return row
	}
	raw = composed(plainIntegers(raw))
	if row.Problems = replaced(raw); len(row.Problems) > 0 {
		return row
	}
	if err := r.schema.VisitJSON(value, openapi3.MultiErrors()); err != nil {
		row.Problems = flatten(err)
		return row
	}
	var body spec.BulkPost
	if err := json.Unmarshal(raw, &body); err != nil {
		row.Problems = []apperr.FieldError{apperr.Field("row", "unreadable_row", "This row cannot be read.")}
		return row
	}
	row.Draft = draftOf(&spec.PostCreate{
		Content: body.Content, ScheduledTime: body.ScheduledTime, Draft: body.Draft,
		Thread: body.Thread, Options: body.Options, Overrides: body.Overrides,
		DropIfLateMinutes: body.DropIfLateMinutes, TrackLinks: body.TrackLinks, Attachments: body.Attachments,
		ThreadParentId: body.ThreadParentId,
		TimeZone:       body.TimeZone, Accounts: body.Accounts, Language: body.Language,
	})
	return row
}

// The columns of the CSV format, by type of cell.
type cellKind int

const (
	cellText cellKind = iota
	cellNumber
	cellBool
	cellList // separated by semicolons
	cellJSON
	cellIgnored
	cellSegment
)

func columnKind(name string) (cellKind, bool) {
	switch name {
	case "content", "scheduled_time", "time_zone", "language", "thread_parent_id":
		return cellText, true
	case "drop_if_late_minutes":
		return cellNumber, true
	case "draft", "track_links":
		return cellBool, true
	case "accounts", "attachments":
		return cellList, true
	case "thread", "options", "overrides":
		return cellJSON, true
	case "id", "status", "posted_at", "urls":
		return cellIgnored, true
	}
	return cellSegment, threadColumn.MatchString(name)
}

var threadColumn = regexp.MustCompile(`^thread_([1-9][0-9]?|100)$`)

// csv reads rows after a header row.
func (r *rowReader) csv(text string) ([]scheduling.Row, error) {
	lines, err := csvio.Read(text)
	if err != nil {
		return nil, badBody("not_csv", sentence(err.Error()))
	}
	if len(lines) == 0 {
		return nil, nil
	}
	header := lines[0].Cells
	for i, name := range header {
		header[i] = strings.ToLower(csvio.Trim(name))
		if header[i] == "" {
			if err := unnamed(lines[1:], i); err != nil {
				return nil, err
			}
			continue
		}
		if _, ok := columnKind(header[i]); !ok {
			return nil, badBody("unknown_column", fmt.Sprintf("The column %q is unknown.", name))
		}
		if slices.Contains(header[:i], header[i]) {
			return nil, badBody("duplicate_column", fmt.Sprintf("The column %q is duplicated.", name))
		}
	}
	if len(lines)-1 > bulkMaxRows {
		return nil, badBody("too_many", fmt.Sprintf("Send at most %d rows at once.", bulkMaxRows))
	}
	rows := make([]scheduling.Row, 0, len(lines)-1)
	for _, line := range lines[1:] {
		object, problems := fields(header, line.Cells)
		if len(problems) > 0 {
			rows = append(rows, scheduling.Row{Number: line.Line, Problems: problems})
			continue
		}
		raw, err := json.Marshal(object)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r.row(line.Line, raw))
	}
	return rows, nil
}

// unnamed refuses a column without a name that has content. Spreadsheets write empty ones
// as far as their used range goes.
func unnamed(lines []csvio.Row, column int) error {
	for _, line := range lines {
		if column < len(line.Cells) && csvio.Trim(line.Cells[column]) != "" {
			return badBody("unnamed_column", fmt.Sprintf("Column %d has no name, but line %d has content there.",
				column+1, line.Line))
		}
	}
	return nil
}

// fields converts a row to an object. Empty cells are omitted, except for the text, which
// is optional if there are attachments.
func fields(header, cells []string) (object map[string]any, problems []apperr.FieldError) {
	for len(cells) > len(header) && csvio.Trim(cells[len(cells)-1]) == "" {
		cells = cells[:len(cells)-1]
	}
	if len(cells) != len(header) {
		return nil, []apperr.FieldError{
			apperr.Field("row", "wrong_length", "The row has {cells} cells, but there are {columns} columns.",
				len(cells), len(header)),
		}
	}
	object = map[string]any{}
	segments := map[int]string{}
	for i, name := range header {
		kind, _ := columnKind(name)
		cell := csvio.Unescape(cells[i])
		if kind != cellSegment && name != "content" {
			cell = csvio.Trim(cell)
		}
		if name == "" || kind == cellIgnored || cell == "" && name != "content" {
			continue
		}
		if kind == cellSegment {
			n, _ := strconv.Atoi(strings.TrimPrefix(name, "thread_"))
			segments[n] = cell
			continue
		}
		value, ok := read(kind, cell)
		if !ok {
			problems = append(problems, apperr.Field(name, "wrong_cell", "This cell should hold {expected}.",
				kindName(kind)))
			continue
		}
		object[name] = value
	}
	if len(segments) > 0 {
		if object["thread"] != nil {
			problems = append(problems,
				apperr.Field("thread", "two_threads", "Use the column thread, or thread_1 and so on, but not both."))
		}
		thread := make([]any, 0, len(segments))
		for n := 1; len(thread) < len(segments); n++ {
			text, ok := segments[n]
			if !ok {
				problems = append(problems,
					apperr.Field(fmt.Sprintf("thread_%d", n), "gap", "The thread has a gap here."))
				break
			}
			thread = append(thread, map[string]any{"content": text})
		}
		object["thread"] = thread
	}
	return object, problems
}

func read(kind cellKind, cell string) (value any, ok bool) {
	switch kind {
	case cellNumber:
		n, err := strconv.Atoi(cell)
		return n, err == nil
	case cellBool:
		switch strings.ToLower(cell) { // Excel writes TRUE
		case "true", "1":
			return true, true
		case "false", "0":
			return false, true
		}
		return nil, false
	case cellList:
		list := []any{}
		for one := range strings.SplitSeq(cell, ";") {
			if one = csvio.Trim(one); one != "" {
				list = append(list, one)
			}
		}
		return list, true
	case cellJSON:
		return json.RawMessage(cell), json.Valid([]byte(cell))
	default:
		return cell, true
	}
}

func kindName(kind cellKind) string {
	switch kind {
	case cellNumber:
		return "a whole number"
	case cellBool:
		return "true or false"
	default:
		return "JSON"
	}
}
