package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// writeArchive writes a folder to a compressed archive, in alphabetical order, with the
// owner root and one time, so that equal folders give equal archives.
func writeArchive(path, dir, name string, modified time.Time) (err error) {
	f, err := os.Create(path) //nolint:gosec // the path is an argument of the command
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z, err := gzip.NewWriterLevel(f, gzip.DefaultCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	if err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		return addFile(t, at, filepath.ToSlash(filepath.Join(name, relative)), d, modified)
	}); err != nil {
		return err
	}
	return errors.Join(t.Close(), z.Close())
}

func addFile(t *tar.Writer, at, name string, d fs.DirEntry, modified time.Time) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	link := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		if link, err = os.Readlink(at); err != nil {
			return err
		}
	}
	h, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return err
	}
	h.Name, h.ModTime, h.Format = name, modified, tar.FormatPAX
	h.AccessTime, h.ChangeTime, h.Uid, h.Gid, h.Uname, h.Gname = time.Time{}, time.Time{}, 0, 0, "root", "root"
	h.Mode = 0o644
	if info.IsDir() || info.Mode()&0o111 != 0 {
		h.Mode = 0o755
	}
	if err := t.WriteHeader(h); err != nil || !info.Mode().IsRegular() {
		return err
	}
	f, err := os.Open(at)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	_, err = io.Copy(t, f)
	return err
}
