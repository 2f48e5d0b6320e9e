package archive

import (
	"context"
	"errors"

	"github.com/google/uuid"
)

// posts imports posts with their targets, oldest first, so that posts come before their
// replies.
func (i *importer) posts(ctx context.Context) error {
	if err := i.scan(Posts, func(row map[string]any) error {
		_, err := i.newID(row, "post_id")
		return err
	}); err != nil {
		return err
	}
	if err := i.scan(Posts, func(row map[string]any) error {
		if parent := i.importedID(row["thread_parent_id"]); parent != nil {
			i.replies = append(i.replies, row)
			return nil
		}
		return i.post(ctx, row)
	}); err != nil {
		return err
	}
	for _, row := range i.replies { // oldest first, so that replies to replies come last
		if err := i.post(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

func (i *importer) post(ctx context.Context, row map[string]any) error {
	id, err := i.newID(row, "post_id")
	if err != nil {
		return err
	}
	targets, _ := row["targets"].([]any)
	row["post_id"] = id
	for _, k := range []string{"thread_id", "thread_parent_id", "series_id"} {
		row[k] = i.importedID(row[k])
	}
	if row["thread_id"] == nil {
		row["thread_parent_id"] = nil
	}
	if row["series_id"] == nil {
		row["occurrence"] = nil
	}
	row["thread"] = i.replaceIDs(row["thread"])
	i.attachments(row)
	// A group that was here before has posts of its own, which may have the same slots.
	row["queue_group_id"] = i.createdID(row["queue_group_id"])
	labels := []string{}
	old, _ := row["label_ids"].([]any)
	for _, v := range old {
		if label, ok := i.importedID(v).(string); ok {
			labels = append(labels, label)
		}
	}
	row["label_ids"] = labels
	status := deactivate(row, targets)
	if text, _ := row["content"].(string); text == "" && len(row["attachment_ids"].([]string)) == 0 &&
		status != "draft" && status != "canceled" {
		row["content"] = "…" // its files are missing, but a published post must have content
	}
	i.setOwner(row)
	if _, err := i.add(ctx, Posts, PostRows, row); err != nil {
		return err
	}
	for _, one := range targets {
		target, ok := one.(map[string]any)
		if !ok {
			continue
		}
		if err := i.target(ctx, id, target); err != nil {
			return err
		}
	}
	i.imported()
	return nil
}

// attachments sets the new IDs and URLs of the attached files.
func (i *importer) attachments(row map[string]any) {
	ids, urls := []string{}, []string{}
	old, _ := row["attachment_ids"].([]any)
	for _, v := range old {
		text, _ := i.importedID(v).(string)
		id, err := uuid.Parse(text)
		if key, ok := i.keys[id]; err == nil && ok {
			ids, urls = append(ids, text), append(urls, i.Objects.URL(key))
		}
	}
	row["attachment_ids"], row["attachment_urls"] = ids, urls
}

// deactivate changes the status of a post and its targets so that nothing is published
// automatically, and returns the status of the post.
func deactivate(row map[string]any, targets []any) string {
	status, _ := row["status"].(string)
	switch status {
	case "scheduled":
		status = "draft"
	case "publishing":
		status = "canceled"
	}
	posted := false
	for _, one := range targets {
		t, ok := one.(map[string]any)
		if !ok {
			continue
		}
		switch t["status"] {
		case "posted":
			posted = true
		case "scheduled", "publishing", "uncertain":
			if status != "draft" {
				t["status"] = "canceled"
			}
		case "failed":
			if t["error_class"] == "auth" { // is retried when its account is connected
				t["status"] = "canceled"
			}
		}
	}
	if status == "canceled" && posted {
		status = "partly_posted"
	}
	row["status"] = status
	return status
}

func (i *importer) target(ctx context.Context, postID uuid.UUID, t map[string]any) error {
	id, err := i.newID(t, "id")
	if err != nil {
		return err
	}
	account := i.importedID(t["account_id"])
	if account == nil {
		return errors.New("a post targets an account that is not in the archive")
	}
	published, _ := t["published"].([]any)
	t["id"], t["post_id"], t["account_id"] = id, postID, account
	t["override"] = i.replaceIDs(t["override"])
	if _, err := i.add(ctx, "", TargetRows, t); err != nil {
		return err
	}
	for _, one := range published {
		r, ok := one.(map[string]any)
		if !ok {
			continue
		}
		r["target_id"], r["account_id"] = id, account
		if _, err := i.add(ctx, "", RemoteRows, r); err != nil {
			return err
		}
	}
	return nil
}
