// Package keyring re-encrypts the secrets in the database with the primary key, without
// downtime, so that old keys can be retired.
package keyring

import (
	"context"
	"errors"
	"fmt"

	"dateline/internal/identity/secret"
)

// Column is a column of encrypted values. Its fields are SQL.
type Column struct {
	Table  string
	Column string
	Key    string // text expression that identifies the row
	Name   string // text expression for the associated data of a value
}

// Sealed is an encrypted value.
type Sealed struct {
	Key   string
	Bytes []byte
	Name  string // associated data
}

// Store reads and replaces encrypted values.
type Store interface {
	DropStaleSecrets(ctx context.Context) error
	CountSealed(ctx context.Context, c Column) (map[string]int, error)
	SealedWithOtherKeys(ctx context.Context, c Column, mark []byte, after string, limit int) ([]Sealed, error)
	ReplaceSealed(ctx context.Context, c Column, old Sealed, fresh []byte) error
}

// Manager re-encrypts values and retires keys. It can run at any time, also concurrently.
type Manager struct {
	Store     Store
	Columns   []Column
	Sealer    *secret.Sealer
	Source    secret.Source
	BatchSize int // rows per query; default 100
	// OnProgress is called repeatedly by Reencrypt; optional.
	OnProgress func(done, total int)
}

// Report is the result of a re-encryption.
type Report struct {
	Reencrypted int
	// Undecryptable counts the values that no key decrypts, by table.
	Undecryptable map[string]int
}

// Reencrypt re-encrypts all values that are encrypted with older keys. Concurrent writes
// already use the primary key.
func (m *Manager) Reencrypt(ctx context.Context) (Report, error) {
	report := Report{Undecryptable: map[string]int{}}
	mark := m.Sealer.Primary()
	if mark == nil {
		return report, errors.New("the primary key has the output prefix RAW, so its values cannot be identified: " +
			"rotate first")
	}
	if err := m.Store.DropStaleSecrets(ctx); err != nil {
		return report, err
	}
	done, advance := 0, func() {}
	if m.OnProgress != nil {
		counts, err := m.Counts(ctx)
		if err != nil {
			return report, err
		}
		total := 0
		for key, n := range counts {
			if key != string(mark) {
				total += n
			}
		}
		advance = func() { done++; m.OnProgress(done, total) }
	}
	batch := m.BatchSize
	if batch == 0 {
		batch = 100
	}
	for _, c := range m.Columns {
		for after := ""; ; {
			rows, err := m.Store.SealedWithOtherKeys(ctx, c, mark, after, batch)
			if err != nil {
				return report, fmt.Errorf("%s.%s: %w", c.Table, c.Column, err)
			}
			for _, row := range rows {
				after = row.Key
				advance()
				fresh, ok, err := m.reencrypt(row)
				if err != nil {
					return report, err
				}
				if !ok {
					report.Undecryptable[c.Table]++
					continue
				}
				if err := m.Store.ReplaceSealed(ctx, c, row, fresh); err != nil {
					return report, fmt.Errorf("%s.%s: %w", c.Table, c.Column, err)
				}
				report.Reencrypted++
			}
			if len(rows) < batch {
				break
			}
		}
	}
	return report, nil
}

// reencrypt re-encrypts a value with the same associated data.
func (m *Manager) reencrypt(row Sealed) (fresh []byte, ok bool, err error) {
	plain, err := m.Sealer.Open(row.Bytes, row.Name)
	if err != nil {
		return nil, false, nil //nolint:nilerr // no key decrypts the value
	}
	fresh, err = m.Sealer.Seal(plain, row.Name)
	return fresh, err == nil, err
}

// Counts counts the values of all columns by key prefix.
func (m *Manager) Counts(ctx context.Context) (map[string]int, error) {
	all := map[string]int{}
	for _, c := range m.Columns {
		counts, err := m.Store.CountSealed(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", c.Table, c.Column, err)
		}
		for mark, n := range counts {
			all[mark] += n
		}
	}
	return all, nil
}

// Retire disables all keys except the primary one, if no values are encrypted with them.
// They stay in the keyset and can be enabled again. out is the output file for a keyset
// that is given as text.
func (m *Manager) Retire(ctx context.Context, out string) ([]uint32, error) {
	all, err := secret.Keys(ctx, m.Source)
	if err != nil {
		return nil, err
	}
	old := secret.Older(all)
	if len(old) == 0 {
		return nil, nil
	}
	if err := m.checkUnused(ctx, all); err != nil {
		return nil, err
	}
	if err := secret.Disable(ctx, m.Source, out, old); err != nil {
		return nil, err
	}
	// A process with the previous keyset may have encrypted a value in the meantime.
	if err := m.checkUnused(ctx, all); err != nil {
		if m.Source.JSON.Empty() {
			err = errors.Join(err, secret.Enable(ctx, m.Source, out, old))
		}
		return nil, err
	}
	return old, nil
}

func (m *Manager) checkUnused(ctx context.Context, all []secret.Key) error {
	if err := m.Store.DropStaleSecrets(ctx); err != nil {
		return err
	}
	counts, err := m.Counts(ctx)
	if err != nil {
		return err
	}
	left := 0
	for mark, n := range counts {
		if !isPrimaryMark(all, mark) {
			left += n
		}
	}
	if left > 0 {
		return fmt.Errorf("%d values are still encrypted with older keys: run `dateline keys reencrypt` first; no "+
			"key was retired", left)
	}
	return nil
}

func isPrimaryMark(all []secret.Key, mark string) bool {
	for _, key := range all {
		if key.Primary {
			return len(key.Mark) > 0 && string(key.Mark) == mark
		}
	}
	return false
}

// CountUndecryptable counts the values whose key is missing in the keyset, or retired.
func (m *Manager) CountUndecryptable(ctx context.Context) (lost int, err error) {
	all, err := secret.Keys(ctx, m.Source)
	if err != nil {
		return 0, err
	}
	counts, err := m.Counts(ctx)
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
