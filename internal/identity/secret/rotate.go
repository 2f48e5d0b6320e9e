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

// Key describes a key of a keyset.
type Key struct {
	ID      uint32
	Primary bool // encrypts; the other keys only decrypt
	Enabled bool
	Mark    []byte // prefix of its ciphertexts; nil if it has none
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
		list = append(list, Key{
			ID: one.GetKeyId(), Primary: one.GetKeyId() == info.GetPrimaryKeyId(),
			Enabled: one.GetStatus() == tinkpb.KeyStatusType_ENABLED, Mark: mark(one),
		})
	}
	return list, nil
}

// Add adds a key that is not primary yet: unless all processes share the keyset file,
// they must know a key before it is used. out is the output file for a keyset that is
// given as text.
func Add(ctx context.Context, s Source, out string) (id uint32, err error) {
	return id, s.update(ctx, out, func(m *keyset.Manager) error {
		id, err = m.Add(aead.AES256GCMKeyTemplate())
		return err
	})
}

// Promote makes a key the primary key.
func Promote(ctx context.Context, s Source, out string, id uint32) error {
	return s.update(ctx, out, func(m *keyset.Manager) error { return m.SetPrimary(id) })
}

// Rotate adds a new primary key.
func Rotate(ctx context.Context, s Source, out string) (id uint32, err error) {
	return id, s.update(ctx, out, func(m *keyset.Manager) error {
		if id, err = m.Add(aead.AES256GCMKeyTemplate()); err != nil {
			return err
		}
		return m.SetPrimary(id)
	})
}

// Disable disables keys; they no longer decrypt.
func Disable(ctx context.Context, s Source, out string, ids []uint32) error {
	return s.update(ctx, out, func(m *keyset.Manager) error { return each(ids, m.Disable) })
}

// Enable enables disabled keys.
func Enable(ctx context.Context, s Source, out string, ids []uint32) error {
	return s.update(ctx, out, func(m *keyset.Manager) error { return each(ids, m.Enable) })
}

func each(ids []uint32, do func(uint32) error) error {
	for _, id := range ids {
		if err := do(id); err != nil {
			return err
		}
	}
	return nil
}

// update changes the keyset atomically: in its file, or in out if it is given as text.
func (s Source) update(ctx context.Context, out string, do func(*keyset.Manager) error) error {
	target := s.Path
	if !s.isFile() {
		if target = out; out == "" {
			return errors.New("the keyset is given as DATELINE_KEYSET_JSON: name an output file with --out")
		}
		if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s already exists", out)
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
	tmp, err := writeTemp(target, raw)
	if err != nil {
		return err
	}
	if err := copyOwner(target, tmp); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return os.Rename(tmp, target)
}

// copyOwner gives a file the owner of the file that it replaces, because root can rotate
// the keys of a service that runs as another user.
func copyOwner(old, fresh string) error {
	info, err := os.Stat(old)
	if err != nil {
		return nil //nolint:nilerr // no file to replace
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && int(owner.Uid) != os.Geteuid() {
		return os.Chown(fresh, int(owner.Uid), int(owner.Gid))
	}
	return nil
}

// lock serializes changes of a keyset, which could otherwise lose a key. The lock is
// released when the process ends.
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

// Older returns the enabled keys that are not primary.
func Older(all []Key) []uint32 {
	var ids []uint32
	for _, k := range all {
		if k.Enabled && !k.Primary {
			ids = append(ids, k.ID)
		}
	}
	return slices.Clip(ids)
}
