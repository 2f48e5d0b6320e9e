package rule

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"dateline/internal/publishing/account"
	"dateline/internal/publishing/scheduling"
)

// accounts returns the connected accounts of a rule.
func (e *Engine) accounts(ctx context.Context, r Rule) ([]account.Account, error) {
	ids := r.AccountIDs
	if r.GroupID != nil {
		groups, err := e.Lookup.Groups(ctx, r.WorkspaceID)
		if err != nil {
			return nil, err
		}
		for _, g := range groups {
			if g.ID == *r.GroupID {
				ids = g.AccountIDs
			}
		}
	}
	found, err := e.Lookup.AccountsByID(ctx, r.WorkspaceID, ids)
	var out []account.Account
	for _, id := range ids {
		for _, a := range found {
			if a.ID == id && a.Status == account.Connected {
				out = append(out, a)
			}
		}
	}
	return out, err
}

func (e *Engine) limits(
	ctx context.Context, r Rule, accounts []account.Account,
) (map[uuid.UUID]scheduling.TextLimit, error) {
	ids := make([]uuid.UUID, len(accounts))
	for i, one := range accounts {
		ids[i] = one.ID
	}
	return e.Posts.TextLimits(ctx, r.WorkspaceID, ids, r.TrackLinks)
}

func (e *Engine) accountLimits(
	ctx context.Context, r Rule,
) ([]account.Account, map[uuid.UUID]scheduling.TextLimit, error) {
	accounts, err := e.accounts(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	limits, err := e.limits(ctx, r, accounts)
	return accounts, limits, err
}

// newTexts returns the texts of a new post and their variant.
func (e *Engine) newTexts(
	ctx context.Context, r Rule, a Article, d Decision, accounts []account.Account,
) ([]Text, int, error) {
	limits, err := e.limits(ctx, r, accounts)
	if err != nil {
		return nil, 0, err
	}
	if r.Trigger.Evergreen == nil {
		return r.render(a, 0, accounts, limits), 0, nil
	}
	earlier, err := e.Store.EarlierTexts(ctx, d)
	if err != nil {
		return nil, 0, err
	}
	texts, variant := r.chooseTexts(a, d.Round, accounts, limits, earlier)
	return texts, variant, nil
}

// chooseTexts renders the variant of a round. If a network that rejects repeated texts
// was sent it before, all accounts get the next variant that is new to it; without one,
// its accounts are omitted.
func (r Rule) chooseTexts(a Article, round int, accounts []account.Account, limits map[uuid.UUID]scheduling.TextLimit,
	earlier map[uuid.UUID][]string,
) (best []Text, variant int) {
	first, variants := max(round-1, 0), 1
	for _, one := range accounts {
		variants = max(variants, len(r.wordings(one.Network)))
	}
	for i := range variants {
		texts := slices.DeleteFunc(r.render(a, first+i, accounts, limits), func(t Text) bool {
			return limits[t.AccountID].RejectsRepeats && slices.Contains(earlier[t.AccountID], t.Text)
		})
		if len(texts) > len(best) {
			best, variant = texts, first+i
		}
		if len(best) == len(accounts) {
			break
		}
	}
	return best, variant
}

// followTexts renders the texts of an existing post for the current version of its
// article.
func (e *Engine) followTexts(
	ctx context.Context, r Rule, a Article, d Decision, accounts []account.Account,
) ([]Text, error) {
	limits, err := e.limits(ctx, r, accounts)
	if err != nil {
		return nil, err
	}
	return r.render(a, d.Variant, accounts, limits), nil
}
