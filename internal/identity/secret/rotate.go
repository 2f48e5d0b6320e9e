package secret

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
)

// Key is one key of a keyset, as operators see it.
type Key struct {
	ID      uint32
	Primary bool // seals; the others only open
	Enabled bool
	Mark    []byte // what it seals begins with; nil: nothing
}

// Keys lists the keys of a source, oldest first.
func Keys(ctx context.Context, s Source) ([]Key, error) {
	handle, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	info := handle.KeysetInfo()
	var list []Key
	for _, one := range info.GetKeyInfo() {
		list = append(list, Key{ID: one.GetKeyId(), Primary: one.GetKeyId() == info.GetPrimaryKeyId(),
			Enabled: one.GetStatus() == tinkpb.KeyStatusType_ENABLED, Mark: mark(one)})
	}
	return list, nil
}

// Add adds a new key, which opens and does not seal yet: where processes have
// the keyset from somewhere else than one file, all must know a key before any
// seals with it. out is where the keyset goes that was given as text.
func Add(ctx context.Context, s Source, out string) (id uint32, err error) {
	return id, s.change(ctx, out, func(m *keyset.Manager) error {
		id, err = m.Add(aead.AES256GCMKeyTemplate())
		return err
	})
}

// Promote makes a key the one that seals.
func Promote(ctx context.Context, s Source, out string, id uint32) error {
	return s.change(ctx, out, func(m *keyset.Manager) error { return m.SetPrimary(id) })
}

// Rotate adds a new key that seals from now on.
func Rotate(ctx context.Context, s Source, out string) (id uint32, err error) {
	return id, s.change(ctx, out, func(m *keyset.Manager) error {
		if id, err = m.Add(aead.AES256GCMKeyTemplate()); err != nil {
			return err
		}
		return m.SetPrimary(id)
	})
}

// Disable makes keys open nothing any more; Enable takes that back.
func Disable(ctx context.Context, s Source, out string, ids []uint32) error {
	return s.change(ctx, out, func(m *keyset.Manager) error { return each(ids, m.Disable) })
}

// Enable makes keys open again what they sealed.
func Enable(ctx context.Context, s Source, out string, ids []uint32) error {
	return s.change(ctx, out, func(m *keyset.Manager) error { return each(ids, m.Enable) })
}

func each(ids []uint32, do func(uint32) error) error {
	for _, id := range ids {
		if err := do(id); err != nil {
			return err
		}
	}
	return nil
}

// change reads the keyset, changes it and writes it back in one piece: to its
// file, or to out where it was given as text.
func (s Source) change(ctx context.Context, out string, do func(*keyset.Manager) error) error {
	target := s.Path
	if !s.lives() {
		if target = out; out == "" {
			return errors.New("the keyset is given as text (DATELINE_KEYSET_JSON), so name a file for the new one")
		}
		if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is there already", out)
		}
	}
	unlock, err := lock(target + ".lock")
	if err != nil {
		return err
	}
	defer unlock()
	handle, err := s.read(ctx)
	if err != nil {
		return err
	}
	manager := keyset.NewManagerFromHandle(handle)
	if err := do(manager); err != nil {
		return err
	}
	if handle, err = manager.Handle(); err != nil {
		return err
	}
	raw, err := s.encode(ctx, handle)
	if err != nil {
		return err
	}
	tmp, err := writeAside(target, raw)
	if err != nil {
		return err
	}
	if err := keepOwner(target, tmp); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return os.Rename(tmp, target)
}

// keepOwner gives a new file the owner of the one that it replaces: root may
// rotate the keys of a service that runs as somebody else.
func keepOwner(old, fresh string) error {
	info, err := os.Stat(old)
	if err != nil {
		return nil //nolint:nilerr // there is none: it is ours
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && int(owner.Uid) != os.Geteuid() {
		return os.Chown(fresh, int(owner.Uid), int(owner.Gid))
	}
	return nil
}

// lock keeps two changes of one keyset apart, which would lose the key of one
// of them and with it all that it sealed. It goes with its process.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil { //nolint:gosec // a file descriptor is small
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil
}

// Older lists the enabled keys that do not seal any more.
func Older(all []Key) []uint32 {
	var ids []uint32
	for _, k := range all {
		if k.Enabled && !k.Primary {
			ids = append(ids, k.ID)
		}
	}
	return slices.Clip(ids)
}
