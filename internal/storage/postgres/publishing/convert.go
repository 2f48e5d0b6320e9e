package publishing

import (
	"encoding/json"
	"time"

	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/publishing/db"
)

// approvalState defaults to none.
func approvalState(s post.ApprovalState) db.ApprovalState {
	if s == "" {
		return db.ApprovalStateNone
	}
	return db.ApprovalState(s)
}

func threadJSON(thread []post.Segment) (json.RawMessage, error) {
	return json.Marshal(column.List(thread))
}

// readThread parses the output of threadJSON. A check constraint requires an array.
func readThread(raw json.RawMessage) (thread []post.Segment) {
	_ = json.Unmarshal(raw, &thread)
	return thread
}

// optionsJSON writes options; none are an empty object.
func optionsJSON(options post.Options) (json.RawMessage, error) {
	if options == nil {
		return json.RawMessage(`{}`), nil
	}
	return json.Marshal(options)
}

// readOptions reads what optionsJSON wrote; nil: none.
func readOptions(raw json.RawMessage) (options post.Options) {
	if json.Unmarshal(raw, &options) != nil || len(options) == 0 {
		return nil
	}
	return options
}

// overrideJSON returns "" for nil.
func overrideJSON(o *post.Override) (string, error) {
	if o == nil || (o.Content == nil && o.AttachmentIDs == nil && o.Thread == nil && o.Options == nil) {
		return "", nil
	}
	raw, err := json.Marshal(o)
	return string(raw), err
}

func readOverride(raw json.RawMessage) *post.Override {
	if len(raw) == 0 {
		return nil
	}
	var o post.Override
	if json.Unmarshal(raw, &o) != nil {
		return nil
	}
	return &o
}

// minutes converts a late limit; 0 becomes null.
func minutes(d time.Duration) *int {
	if d <= 0 {
		return nil
	}
	m := int(d / time.Minute)
	return &m
}
