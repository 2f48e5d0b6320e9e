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

// lookup caches what a request has looked up, so that thousands of rows with the same
// accounts load them once. It lives as long as the request.
type lookup struct {
	scheduler *Scheduler
	workspace uuid.UUID

	accountByID     map[uuid.UUID]*account.Account // nil: does not exist
	defaultAccounts []account.Account
	hasDefaults     bool
	fileByID        map[uuid.UUID]*media.Item
	postByID        map[uuid.UUID]*post.Post
	limitsByID      map[uuid.UUID]limitsResult
	zones           map[string]*time.Location
	groupList       []account.Group
	hasGroups       bool
}

type limitsResult struct {
	limits network.Limits
	err    error
}

func newLookup(d *Scheduler, workspace uuid.UUID) *lookup {
	return &lookup{
		scheduler: d, workspace: workspace, accountByID: map[uuid.UUID]*account.Account{},
		fileByID: map[uuid.UUID]*media.Item{},
		postByID: map[uuid.UUID]*post.Post{}, limitsByID: map[uuid.UUID]limitsResult{},
		zones: map[string]*time.Location{},
	}
}

// cached returns the objects with the given ids and loads those that are not cached.
func cached[T any](
	cache map[uuid.UUID]*T, ids []uuid.UUID, ask func([]uuid.UUID) (map[uuid.UUID]T, error),
) (map[uuid.UUID]T, error) {
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

func (k *lookup) accounts(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]account.Account, error) {
	return cached(k.accountByID, ids, func(missing []uuid.UUID) (map[uuid.UUID]account.Account, error) {
		list, err := k.scheduler.Store.AccountsByID(ctx, k.workspace, missing)
		found := make(map[uuid.UUID]account.Account, len(list))
		for _, a := range list {
			found[a.ID] = a
		}
		return found, err
	})
}

func (k *lookup) groups(ctx context.Context) (_ []account.Group, err error) {
	if !k.hasGroups {
		k.groupList, err = k.scheduler.Store.Groups(ctx, k.workspace)
		k.hasGroups = err == nil
	}
	return k.groupList, err
}

func (k *lookup) defaults(ctx context.Context) (_ []account.Account, err error) {
	if !k.hasDefaults {
		k.defaultAccounts, err = k.scheduler.Store.DefaultAccounts(ctx, k.workspace)
		k.hasDefaults = err == nil
	}
	return k.defaultAccounts, err
}

func (k *lookup) files(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]media.Item, error) {
	return cached(k.fileByID, ids, func(missing []uuid.UUID) (map[uuid.UUID]media.Item, error) {
		return k.scheduler.Store.MediaByID(ctx, k.workspace, missing)
	})
}

func (k *lookup) posts(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]post.Post, error) {
	return cached(k.postByID, ids, func(missing []uuid.UUID) (map[uuid.UUID]post.Post, error) {
		list, err := k.scheduler.Store.PostsByID(ctx, k.workspace, missing)
		found := make(map[uuid.UUID]post.Post, len(list))
		for _, p := range list {
			found[p.ID] = p
		}
		return found, err
	})
}

// limits asks an account's instance once per request, even if the instance does not
// respond.
func (k *lookup) limits(ctx context.Context, adapter network.Network, a account.Account) (network.Limits, error) {
	if l, ok := k.limitsByID[a.ID]; ok {
		return l.limits, l.err
	}
	ctx, cancel := context.WithTimeout(ctx, limitsTimeout)
	defer cancel()
	var l limitsResult
	opened, err := k.scheduler.Accounts.Unseal(a)
	if l.err = err; err == nil {
		l.limits, l.err = adapter.Limits(ctx, opened)
	}
	if l.err != nil {
		k.scheduler.Log.WarnContext(ctx, "limits not known, content not checked yet", "account_id", a.ID, "network",
			a.Network, "error", l.err)
	}
	k.limitsByID[a.ID] = l
	return l.limits, l.err
}

func (k *lookup) zone(name string) (*time.Location, error) {
	if zone, ok := k.zones[name]; ok {
		return zone, nil
	}
	zone, err := timezone.Load(name)
	if err == nil {
		k.zones[name] = zone
	}
	return zone, err
}
