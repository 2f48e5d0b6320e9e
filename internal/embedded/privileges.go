package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// nobodyID is the user and group "nobody" on Linux; also used if the name does not
// resolve, as in minimal containers.
const nobodyID = 65534

// DropPrivileges changes the user of a process from root to nobody, who then owns
// dataDir: PostgreSQL refuses to run as root, and no engine needs root. HOME, TMPDIR
// and the working directory move to dataDir, because the old ones may be unreadable.
// For any other user it does nothing.
func DropPrivileges(dataDir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	uid, gid := nobody()
	if err := giveTo(dataDir, uid, gid); err != nil {
		return err
	}
	// The group first: after setuid the process may no longer change it.
	if err := syscall.Setgroups([]int{gid}); err != nil {
		return fmt.Errorf("drop supplementary groups of root: %w", err)
	}
	if err := syscall.Setgid(gid); err != nil {
		return fmt.Errorf("drop the group of root: %w", err)
	}
	if err := syscall.Setuid(uid); err != nil {
		return fmt.Errorf("drop root privileges: %w", err)
	}
	if err := os.Chdir(dataDir); err != nil {
		return fmt.Errorf("started as root, Dateline runs as the unprivileged user nobody, who cannot reach the data "+
			"directory %s;"+
			" set DATELINE_DATA_DIR to one whose parents everybody may enter, such as /var/lib/dateline: %w", dataDir,
			err)
	}
	tmp := filepath.Join(dataDir, "tmp")
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		return fmt.Errorf("the data directory cannot be written: %w", err)
	}
	for name, value := range map[string]string{
		"HOME": dataDir, "TMPDIR": tmp, "USER": "nobody", "LOGNAME": "nobody",
		"PWD": dataDir,
	} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	for _, name := range []string{
		"XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME",
		"XDG_RUNTIME_DIR",
	} {
		if err := os.Unsetenv(name); err != nil {
			return err
		}
	}
	return nil
}

// nobody looks the user up, because macOS gives it another number.
func nobody() (uid, gid int) {
	u, err := user.Lookup("nobody")
	if err != nil {
		return nobodyID, nobodyID
	}
	uid, errUID := strconv.Atoi(u.Uid)
	gid, errGID := strconv.Atoi(u.Gid)
	if errUID != nil || errGID != nil || uid == 0 || gid == 0 {
		return nobodyID, nobodyID
	}
	return uid, gid
}

// giveTo changes the owner of root's files under dir. It does not follow symbolic links
// and refuses files with several hard links, so that a user with write access cannot
// trick root into changing the owner of a file elsewhere.
func giveTo(dir string, uid, gid int) error {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil {
			info, err = d.Info()
		}
		if errors.Is(err, fs.ErrNotExist) { // Engines of a killed process may still remove files.
			return nil
		} else if err != nil {
			return err
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok || (int(stat.Uid) == uid && int(stat.Gid) == gid) {
			return nil
		}
		if info.Mode().IsRegular() && stat.Nlink > 1 {
			return fmt.Errorf("%s has a second name elsewhere; remove it", path)
		}
		//nolint:gosec // G122: only root could swap a path here, and Lchown follows no link
		if err := os.Lchown(path, uid, gid); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("hand the data directory %s to the unprivileged user nobody: %w", dir, err)
	}
	return nil
}
