package scheduling

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/timezone"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/post"
	"dateline/platforms/network"
)

// known remembers what a request has looked up, so that thousands of rows that
// name the same accounts ask for them once. It lives as long as its request.
type known struct {
	desk      *Desk
	workspace uuid.UUID

	accountByID map[uuid.UUID]*account.Account // nil: there is none
	defaultOnes []account.Account
	gotDefaults bool
	fileByID    map[uuid.UUID]*media.Item
	postByID    map[uuid.UUID]*post.Post
	limitsByID  map[uuid.UUID]limitsOf
	zones       map[string]*time.Location
}

type limitsOf struct {
	limits network.Limits
	err    error
}

func newKnown(d *Desk, workspace uuid.UUID) *known {
	return &known{desk: d, workspace: workspace, accountByID: map[uuid.UUID]*account.Account{}, fileByID: map[uuid.UUID]*media.Item{},
		postByID: map[uuid.UUID]*post.Post{}, limitsByID: map[uuid.UUID]limitsOf{}, zones: map[string]*time.Location{}}
}

// remembered gives what ids name, asking for those that were not asked for yet.
func remembered[T any](cache map[uuid.UUID]*T, ids []uuid.UUID, ask func([]uuid.UUID) (map[uuid.UUID]T, error)) (map[uuid.UUID]T, error) {
	var missing []uuid.UUID
	for _, id := range ids {
		if _, asked := cache[id]; !asked {
			cache[id] = nil
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		found, err := ask(missing)
		if err != nil {
			return nil, err
		}
		for id, one := range found {
			cache[id] = &one
		}
	}
	out := make(map[uuid.UUID]T, len(ids))
	for _, id := range ids {
		if one := cache[id]; one != nil {
			out[id] = *one
		}
	}
	return out, nil
}

func (k *known) accounts(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]account.Account, error) {
	return remembered(k.accountByID, ids, func(missing []uuid.UUID) (map[uuid.UUID]account.Account, error) {
		list, err := k.desk.Store.AccountsByID(ctx, k.workspace, missing)
		found := make(map[uuid.UUID]account.Account, len(list))
		for _, a := range list {
			found[a.ID] = a
		}
		return found, err
	})
}

func (k *known) defaults(ctx context.Context) (_ []account.Account, err error) {
	if !k.gotDefaults {
		k.defaultOnes, err = k.desk.Store.DefaultAccounts(ctx, k.workspace)
		k.gotDefaults = err == nil
	}
	return k.defaultOnes, err
}

func (k *known) files(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]media.Item, error) {
	return remembered(k.fileByID, ids, func(missing []uuid.UUID) (map[uuid.UUID]media.Item, error) {
		return k.desk.Store.MediaByID(ctx, k.workspace, missing)
	})
}

func (k *known) posts(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]post.Post, error) {
	return remembered(k.postByID, ids, func(missing []uuid.UUID) (map[uuid.UUID]post.Post, error) {
		list, err := k.desk.Store.PostsByID(ctx, k.workspace, missing)
		found := make(map[uuid.UUID]post.Post, len(list))
		for _, p := range list {
			found[p.ID] = p
		}
		return found, err
	})
}

// limits asks an account's instance once. One that does not answer is not
// asked again by the same request.
func (k *known) limits(ctx context.Context, adapter network.Network, a account.Account) (network.Limits, error) {
	if l, ok := k.limitsByID[a.ID]; ok {
		return l.limits, l.err
	}
	ctx, cancel := context.WithTimeout(ctx, limitsPatience)
	defer cancel()
	var l limitsOf
	_, opened, err := k.desk.Accounts.Open(ctx, a.ID)
	if l.err = err; err == nil {
		l.limits, l.err = adapter.Limits(ctx, opened)
	}
	if l.err != nil {
		k.desk.Log.WarnContext(ctx, "limits not known, content not checked yet", "account_id", a.ID, "network", a.Network, "error", l.err)
	}
	k.limitsByID[a.ID] = l
	return l.limits, l.err
}

func (k *known) zone(name string) (*time.Location, error) {
	if zone, ok := k.zones[name]; ok {
		return zone, nil
	}
	zone, err := timezone.Load(name)
	if err == nil {
		k.zones[name] = zone
	}
	return zone, err
}
