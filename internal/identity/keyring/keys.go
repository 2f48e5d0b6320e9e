// Package keyring takes what is sealed in the database from old keys to the newest,
// while the service runs, so that old keys can be retired.
package keyring

import (
	"context"
	"errors"
	"fmt"

	"dateline/internal/identity/secret"
)

// Column is a column of sealed values. All but its names are SQL.
type Column struct {
	Table  string
	Column string
	Key    string   // a text that identifies the row
	Names  []string // under which a value may be sealed; the first is today's
}

// Sealed is one sealed value.
type Sealed struct {
	Key   string
	Bytes []byte
	Names []string
}

// Store is the database as resealing uses it.
type Store interface {
	DropStaleSecrets(ctx context.Context) error
	CountSealed(ctx context.Context, c Column) (map[string]int, error)
	SealedOtherwise(ctx context.Context, c Column, mark []byte, after string, limit int) ([]Sealed, error)
	Reseal(ctx context.Context, c Column, was Sealed, fresh []byte) error
}

// Keeper reseals. It is safe to run at any time, and several times at once.
type Keeper struct {
	Store   Store
	Columns []Column
	Sealer  *secret.Sealer
	Source  secret.Source
	Batch   int // rows at a time; 0: 100
}

// Report says what a run did.
type Report struct {
	Resealed int
	// Stuck is what no key opens, by table: it was lost before.
	Stuck map[string]int
}

// Reseal seals anew what is sealed with an older key. What is written meanwhile
// is sealed with the newest already.
func (k *Keeper) Reseal(ctx context.Context) (Report, error) {
	report := Report{Stuck: map[string]int{}}
	mark := k.Sealer.Primary()
	if mark == nil {
		return report, errors.New("the primary key leaves no mark on what it seals (its output prefix is RAW): rotate first")
	}
	if err := k.Store.DropStaleSecrets(ctx); err != nil {
		return report, err
	}
	batch := k.Batch
	if batch == 0 {
		batch = 100
	}
	for _, c := range k.Columns {
		for after := ""; ; {
			rows, err := k.Store.SealedOtherwise(ctx, c, mark, after, batch)
			if err != nil {
				return report, fmt.Errorf("%s.%s: %w", c.Table, c.Column, err)
			}
			for _, row := range rows {
				after = row.Key
				fresh, ok, err := k.again(row)
				if err != nil {
					return report, err
				}
				if !ok {
					report.Stuck[c.Table]++
					continue
				}
				if err := k.Store.Reseal(ctx, c, row, fresh); err != nil {
					return report, fmt.Errorf("%s.%s: %w", c.Table, c.Column, err)
				}
				report.Resealed++
			}
			if len(rows) < batch {
				break
			}
		}
	}
	return report, nil
}

// again seals a value anew, under the name that opens it.
func (k *Keeper) again(row Sealed) (fresh []byte, ok bool, err error) {
	for _, name := range row.Names {
		if plain, err := k.Sealer.Open(row.Bytes, name); err == nil {
			fresh, err := k.Sealer.Seal(plain, name)
			return fresh, err == nil, err
		}
	}
	return nil, false, nil
}

// Counts tells how many values begin how, over all columns.
func (k *Keeper) Counts(ctx context.Context) (map[string]int, error) {
	all := map[string]int{}
	for _, c := range k.Columns {
		counts, err := k.Store.CountSealed(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", c.Table, c.Column, err)
		}
		for mark, n := range counts {
			all[mark] += n
		}
	}
	return all, nil
}

// Retire makes all keys but the newest open nothing any more, when nothing is
// sealed with them. They stay in the keyset, so that it can be taken back. out is
// where the keyset goes that was given as text.
func (k *Keeper) Retire(ctx context.Context, out string) ([]uint32, error) {
	all, err := secret.Keys(ctx, k.Source)
	if err != nil {
		return nil, err
	}
	old := secret.Older(all)
	if len(old) == 0 {
		return nil, nil
	}
	if err := k.unused(ctx, all); err != nil {
		return nil, err
	}
	if err := secret.Disable(ctx, k.Source, out, old); err != nil {
		return nil, err
	}
	// A process that was slow to notice may have sealed something meanwhile.
	if err := k.unused(ctx, all); err != nil {
		if k.Source.JSON.Empty() {
			err = errors.Join(err, secret.Enable(ctx, k.Source, out, old))
		}
		return nil, err
	}
	return old, nil
}

func (k *Keeper) unused(ctx context.Context, all []secret.Key) error {
	if err := k.Store.DropStaleSecrets(ctx); err != nil {
		return err
	}
	counts, err := k.Counts(ctx)
	if err != nil {
		return err
	}
	left := 0
	for mark, n := range counts {
		if !markOfPrimary(all, mark) {
			left += n
		}
	}
	if left > 0 {
		return fmt.Errorf("%d values are still sealed with older keys: run `dateline keys reencrypt` first; no key was retired", left)
	}
	return nil
}

func markOfPrimary(all []secret.Key, mark string) bool {
	for _, key := range all {
		if key.Primary {
			return len(key.Mark) > 0 && string(key.Mark) == mark
		}
	}
	return false
}

// Unopenable counts what was sealed with keys that the keyset does not have, or
// has retired.
func (k *Keeper) Unopenable(ctx context.Context) (lost int, err error) {
	all, err := secret.Keys(ctx, k.Source)
	if err != nil {
		return 0, err
	}
	counts, err := k.Counts(ctx)
	if err != nil {
		return 0, err
	}
	for _, key := range all {
		if key.Enabled {
			delete(counts, string(key.Mark))
		}
	}
	for _, n := range counts {
		lost += n
	}
	return lost, nil
}
