package archive

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/media"
)

func (i *importer) accounts(ctx context.Context) error {
	return i.each(Accounts, func(row map[string]any) error {
		id, err := i.newID(row, "id")
		if err != nil {
			return err
		}
		old := uuid.MustParse(row["id"].(string)) // validated by fresh
		row["id"], row["workspace_id"], row["status"], row["token"] = id, i.Who.WorkspaceID, "disconnected", `\x`
		if _, err := i.add(ctx, Accounts, AccountRows, row); err != nil {
			return err
		}
		// An account that is already connected is kept and gets the imported posts.
		existing, err := i.Store.AccountsByRemote(ctx, i.Who.WorkspaceID)
		text := func(k string) string { s, _ := row[k].(string); return s }
		if match, ok := existing[RemoteAccount{text("network"), text("base_url"), text("remote_id")}]; ok {
			i.known[old] = match
		}
		return err
	})
}

// groups imports account groups with their slots. One whose name exists is that one.
func (i *importer) groups(ctx context.Context) error {
	existing, err := i.Store.GroupNames(ctx, i.Who.WorkspaceID)
	if err != nil {
		return err
	}
	return i.named(ctx, Groups, GroupRows, existing, func(row map[string]any) string {
		accounts := []string{}
		old, _ := row["account_ids"].([]any)
		for _, v := range old {
			if id, ok := i.importedID(v).(string); ok {
				accounts = append(accounts, id)
			}
		}
		row["account_ids"] = accounts
		name, _ := row["name"].(string)
		return name
	})
}

// labels imports labels and campaigns. One whose name exists is that one.
func (i *importer) labels(ctx context.Context) error {
	existing, err := i.Store.LabelNames(ctx, i.Who.WorkspaceID)
	if err != nil {
		return err
	}
	return i.named(ctx, Labels, LabelRows, existing, kindAndName)
}

// snippets imports snippets. One whose name exists is that one.
func (i *importer) snippets(ctx context.Context) error {
	existing, err := i.Store.SnippetNames(ctx, i.Who.WorkspaceID)
	if err != nil {
		return err
	}
	return i.named(ctx, Snippets, SnippetRows, existing, func(row map[string]any) string {
		row["template"] = i.replaceIDs(row["template"])
		return kindAndName(row)
	})
}

func kindAndName(row map[string]any) string {
	kind, _ := row["kind"].(string)
	name, _ := row["name"].(string)
	return kind + " " + strings.ToLower(name)
}

// named imports rows that a name identifies within the workspace.
func (i *importer) named(ctx context.Context, section Section, table Table, existing map[string]uuid.UUID,
	name func(row map[string]any) string,
) error {
	return i.each(section, func(row map[string]any) error {
		id, err := i.newID(row, "id")
		if err != nil {
			return err
		}
		old := uuid.MustParse(row["id"].(string)) // validated by newID
		row["id"], row["workspace_id"] = id, i.Who.WorkspaceID
		if match, ok := existing[name(row)]; ok {
			i.known[old] = match
			return nil
		}
		_, err = i.add(ctx, section, table, row)
		return err
	})
}

func (i *importer) media(ctx context.Context) error {
	return i.each(Media, func(row map[string]any) error {
		raw, err := json.Marshal(row)
		if err != nil {
			return err
		}
		var m mediaRow
		if err := json.Unmarshal(raw, &m); err != nil {
			return err
		}
		if !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(m.SHA256) {
			return errors.New("a media file has no SHA-256 hash")
		}
		f, err := os.Open(filepath.Join(i.dir, "files", m.SHA256))
		if err != nil {
			i.skip("file %s (%s): not in the archive", m.FileName, m.ID)
			return nil
		}
		defer func() { _ = f.Close() }()
		// MetadataRemoved is only a label; the file is not trusted because of it.
		item, _, err := i.Media.Save(ctx, i.Who, media.NewFile{
			FileName: m.FileName, AltText: m.AltText, Body: f, MetadataRemoved: m.removed(),
		})
		var refused *apperr.Error
		if errors.As(err, &refused) {
			i.skip("file %s: %s", m.FileName, refused.Message)
			return nil
		}
		if err != nil {
			return err
		}
		i.known[m.ID], i.keys[item.ID] = item.ID, item.ObjectKey
		i.done.Added[Media]++
		return nil
	})
}
