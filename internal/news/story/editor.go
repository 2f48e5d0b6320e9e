package story

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
)

// EditorStore stores stories for members.
type EditorStore interface {
	AlertStore
	// EditStories runs f in a transaction that locks the stories of a language.
	EditStories(ctx context.Context, language string, f func(EditorTx) error) error
	// StoryPage returns a story with its articles, or a not found error. A merged story is
	// that into which it was merged.
	StoryPage(ctx context.Context, workspace, id uuid.UUID, p Preferences, maxEntries int) (Page, error)
	// StoryLanguage returns the id and language of a story of which a workspace sees
	// articles, following merges.
	StoryLanguage(ctx context.Context, workspace, id uuid.UUID) (current uuid.UUID, language string, err error)
	StoryEvent(ctx context.Context, workspace, id uuid.UUID) (Event, error)
	StoryPreferences(ctx context.Context, workspace uuid.UUID) (StoredPreferences, error)
	SaveStoryPreferences(ctx context.Context, p StoredPreferences) (StoredPreferences, error)
	MuteStoryAlert(ctx context.Context, workspace, story uuid.UUID) error
}

// EditorTx changes stories for a member, in the transaction of the audit entry.
type EditorTx interface {
	Tx
	// Current returns a story, or the one into which it was merged.
	Current(ctx context.Context, id uuid.UUID) (uuid.UUID, error)
	// InvisibleArticles counts articles of sources that a workspace does not crawl.
	InvisibleArticles(ctx context.Context, workspace uuid.UUID, articles []uuid.UUID) (int, error)
	SetHeadline(ctx context.Context, story uuid.UUID, article *uuid.UUID) error
	SetUndone(ctx context.Context, event uuid.UUID, by string) (bool, error)
	RecordStoryChange(ctx context.Context, workspace, story uuid.UUID, kind EventKind) error
}

// Editor shows stories to members and changes them.
type Editor struct {
	Store  EditorStore
	Drafts Drafts
}

const (
	maxEntries  = 200 // of a story page
	maxMoved    = 200 // articles of a change
	defaultList = 50
)

// List lists stories.
func (d *Editor) List(ctx context.Context, who workspace.Principal, f Filter) ([]Summary, error) {
	p, err := d.Store.StoryPreferences(ctx, who.WorkspaceID)
	if err != nil {
		return nil, err
	}
	f.WorkspaceID = who.WorkspaceID
	if f.Limit == 0 {
		f.Limit = defaultList
	}
	return d.Store.Stories(ctx, f, p.Preferences)
}

// Get returns a story.
func (d *Editor) Get(ctx context.Context, who workspace.Principal, id uuid.UUID) (Page, error) {
	p, err := d.Store.StoryPreferences(ctx, who.WorkspaceID)
	if err != nil {
		return Page{}, err
	}
	page, err := d.Store.StoryPage(ctx, who.WorkspaceID, id, p.Preferences, maxEntries)
	FillAdded(page.Entries)
	return page, err
}

// Merge merges another story into a story.
func (d *Editor) Merge(ctx context.Context, who workspace.Principal, into, from uuid.UUID) error {
	return d.changeTwo(ctx, who, into, from, Merged, func(tx EditorTx, e Event, into, from uuid.UUID) error {
		members, err := tx.Members(ctx, from)
		if err != nil {
			return err
		}
		if err := visible(ctx, tx, who, idsOf(members)); err != nil {
			return err
		}
		return merge(ctx, tx, e, into, from, members, e.Actor)
	})
}

// Split moves articles of a story to a new one and returns its id.
func (d *Editor) Split(
	ctx context.Context, who workspace.Principal, id uuid.UUID, articles []uuid.UUID,
) (created uuid.UUID, err error) {
	err = d.change(ctx, who, id, Split, func(tx EditorTx, e Event, id uuid.UUID) error {
		chosen, isAll, err := d.chosen(ctx, tx, who, id, articles)
		if err != nil {
			return err
		}
		if isAll {
			return apperr.InvalidFields(apperr.FieldError{
				Field: "article_ids", Code: "all_articles", Message: "Leave at least one article in the story.",
			})
		}
		created, err = split(ctx, tx, e, id, chosen, e.Actor)
		return err
	})
	return created, err
}

// Move moves articles of a story to another one. They are pinned there. If none is left,
// the stories are merged.
func (d *Editor) Move(ctx context.Context, who workspace.Principal, from, to uuid.UUID, articles []uuid.UUID) error {
	return d.changeTwo(ctx, who, from, to, Moved, func(tx EditorTx, e Event, from, to uuid.UUID) error {
		chosen, isAll, err := d.chosen(ctx, tx, who, from, articles)
		if err != nil {
			return err
		}
		if isAll {
			members, err := tx.Members(ctx, from)
			if err != nil {
				return err
			}
			return merge(ctx, tx, e, to, from, members, e.Actor)
		}
		if err := move(ctx, tx, chosen, from, to, e.Actor); err != nil {
			return err
		}
		e.OtherID, e.ArticleIDs = &to, chosen
		return tx.SaveEvent(ctx, e)
	})
}

// PinHeadline makes the title of an article the headline of its story; nil: automatic.
func (d *Editor) PinHeadline(ctx context.Context, who workspace.Principal, id uuid.UUID, article *uuid.UUID) error {
	return d.change(ctx, who, id, HeadlinePinned, func(tx EditorTx, e Event, id uuid.UUID) error {
		if article != nil {
			if _, _, err := d.chosen(ctx, tx, who, id, []uuid.UUID{*article}); err != nil {
				return err
			}
			e.ArticleIDs = []uuid.UUID{*article}
		}
		if err := tx.SetHeadline(ctx, id, article); err != nil {
			return err
		}
		return tx.SaveEvent(ctx, e)
	})
}

// Undo undoes a merge, a split or a move. The articles are pinned to where they were, so
// that the same does not happen again by itself.
func (d *Editor) Undo(ctx context.Context, who workspace.Principal, event uuid.UUID) error {
	e, err := d.Store.StoryEvent(ctx, who.WorkspaceID, event)
	if err != nil {
		return err
	}
	if e.OtherID == nil {
		return &apperr.Error{
			Kind: apperr.KindConflict, Code: "cannot_undo",
			Message: "The choice of a headline cannot be undone. Choose another headline.",
		}
	}
	return d.Store.EditStories(ctx, e.Language, func(tx EditorTx) error {
		if err := visible(ctx, tx, who, e.ArticleIDs); err != nil {
			return err
		}
		isFirst, err := tx.SetUndone(ctx, e.ID, who.Actor())
		if err != nil || !isFirst {
			return err
		}
		if err := undo(ctx, tx, e, who.Actor()); err != nil {
			return err
		}
		return tx.RecordStoryChange(ctx, who.WorkspaceID, e.StoryID, undone)
	})
}

// undo moves the articles of an event back. Articles that have left since stay where they
// are.
func undo(ctx context.Context, tx EditorTx, e Event, by string) error {
	if e.Kind == Merged {
		if err := tx.SetMerged(ctx, *e.OtherID, nil); err != nil {
			return err
		}
	}
	story, err := tx.Current(ctx, e.StoryID)
	if err != nil {
		return err
	}
	other, err := tx.Current(ctx, *e.OtherID)
	if err != nil || story == other { // they were merged since, which has its own event
		return err
	}
	from, to := other, story
	if e.Kind == Merged {
		from, to = story, other
	}
	members, err := tx.Members(ctx, from)
	if err != nil {
		return err
	}
	back := slices.DeleteFunc(slices.Clone(e.ArticleIDs), func(id uuid.UUID) bool {
		return !slices.ContainsFunc(members, func(p Placement) bool { return p.ArticleID == id })
	})
	if err := move(ctx, tx, back, from, to, by); err != nil {
		return err
	}
	if e.Kind == Split && len(back) == len(members) {
		return tx.SetMerged(ctx, from, &to)
	}
	return nil
}

// Mute silences the alert about a story.
func (d *Editor) Mute(ctx context.Context, who workspace.Principal, id uuid.UUID) error {
	id, _, err := d.Store.StoryLanguage(ctx, who.WorkspaceID, id)
	if err != nil {
		return err
	}
	return d.Store.MuteStoryAlert(ctx, who.WorkspaceID, id)
}

// CreateDraft creates a draft post about a story and returns its id.
func (d *Editor) CreateDraft(ctx context.Context, who workspace.Principal, id uuid.UUID) (post uuid.UUID, err error) {
	p, err := d.Store.StoryPreferences(ctx, who.WorkspaceID)
	if err != nil {
		return post, err
	}
	s, _, err := d.Store.StoryOf(ctx, who.WorkspaceID, id, p.Preferences)
	if err != nil {
		return post, err
	}
	post = uuid.Must(uuid.NewV7())
	return post, d.Drafts.CreateStoryDraft(ctx, who, post, DraftText(s), s.Language)
}

// Preferences returns the settings of the workspace.
func (d *Editor) Preferences(ctx context.Context, who workspace.Principal) (StoredPreferences, error) {
	return d.Store.StoryPreferences(ctx, who.WorkspaceID)
}

// SetPreferences replaces the settings of the workspace.
func (d *Editor) SetPreferences(
	ctx context.Context, who workspace.Principal, p Preferences,
) (StoredPreferences, error) {
	if p.Owners == nil {
		p.Owners = map[string]string{}
	}
	if err := p.validate(); err != nil {
		return StoredPreferences{}, err
	}
	return d.Store.SaveStoryPreferences(ctx, StoredPreferences{
		Preferences: p, WorkspaceID: who.WorkspaceID, UserID: who.UserID,
	})
}

// change changes a story for a member, in a transaction with its audit entry. The story may
// be merged until it is locked, so its current id is passed.
func (d *Editor) change(ctx context.Context, who workspace.Principal, id uuid.UUID, kind EventKind, f func(tx EditorTx,
	e Event, id uuid.UUID) error,
) error {
	id, language, err := d.Store.StoryLanguage(ctx, who.WorkspaceID, id)
	if err != nil {
		return err
	}
	return d.Store.EditStories(ctx, language, func(tx EditorTx) error {
		id, err := tx.Current(ctx, id)
		if err != nil {
			return err
		}
		if err := f(tx, Event{Language: language, Kind: kind, StoryID: id, Actor: who.Actor()}, id); err != nil {
			return err
		}
		return tx.RecordStoryChange(ctx, who.WorkspaceID, id, kind)
	})
}

// changeTwo is change for two stories of one language.
func (d *Editor) changeTwo(ctx context.Context, who workspace.Principal, id, other uuid.UUID, kind EventKind,
	f func(tx EditorTx, e Event, id, other uuid.UUID) error,
) error {
	other, language, err := d.Store.StoryLanguage(ctx, who.WorkspaceID, other)
	if err != nil {
		return err
	}
	return d.change(ctx, who, id, kind, func(tx EditorTx, e Event, id uuid.UUID) error {
		if language != e.Language {
			return apperr.InvalidFields(apperr.FieldError{
				Field: "story_id", Code: "other_language",
				Message: "A story has one language. Choose a story of the same language.",
			})
		}
		other, err := tx.Current(ctx, other)
		if err != nil {
			return err
		}
		if id == other {
			return apperr.InvalidFields(apperr.FieldError{
				Field: "story_id", Code: "same_story", Message: "This is the same story. Choose another one.",
			})
		}
		return f(tx, e, id, other)
	})
}

// chosen returns the named articles of a story, with their copies, and whether these are
// all articles of the story.
func (d *Editor) chosen(
	ctx context.Context, tx EditorTx, who workspace.Principal, id uuid.UUID, articles []uuid.UUID,
) (chosen []uuid.UUID, isAll bool, err error) {
	members, err := tx.Members(ctx, id)
	if err != nil {
		return nil, false, err
	}
	if len(articles) == 0 || len(articles) > maxMoved {
		return nil, false, apperr.InvalidFields(apperr.Field("article_ids", "out_of_range",
			"Choose between {min} and {max} articles.", "min", 1, "max", maxMoved))
	}
	for _, a := range articles {
		if !slices.ContainsFunc(members, func(p Placement) bool { return p.ArticleID == a }) {
			return nil, false, apperr.InvalidFields(apperr.FieldError{
				Field: "article_ids", Code: "unknown", Message: "Choose articles of this story.",
			})
		}
	}
	chosen = withCopies(members, articles)
	return chosen, len(chosen) == len(members), visible(ctx, tx, who, articles)
}

// visible refuses changes of articles that the workspace does not see.
func visible(ctx context.Context, tx EditorTx, who workspace.Principal, articles []uuid.UUID) error {
	n, err := tx.InvisibleArticles(ctx, who.WorkspaceID, articles)
	if err != nil || n == 0 {
		return err
	}
	return &apperr.Error{
		Kind: apperr.KindConflict, Code: "story_shared",
		Message: "The story contains articles of sources that this workspace does not crawl, so it cannot be changed " +
			"here. Move the articles that you see instead.",
	}
}

func isNotFound(err error) bool {
	var e *apperr.Error
	return errors.As(err, &e) && e.Kind == apperr.KindNotFound
}

func isRefused(err error) bool {
	var e *apperr.Error
	return errors.As(err, &e)
}
