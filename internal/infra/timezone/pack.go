package timezone

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"maps"
	"slices"
)

// Pack returns the database as one file, which Unpack reads. It has the names that the
// database of the release has.
func (d *Database) Pack() ([]byte, error) {
	if d.release == nil && d.Source == BuiltIn {
		return builtIn, nil
	}
	names := d.base()
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	archive := tar.NewWriter(compressed)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		content := []byte("# version " + d.Version + "\n")
		if name != "tzdata.zi" {
			var err error
			if content, err = d.read(name); err != nil {
				content = names[name]
			}
		}
		header := tar.Header{
			Name: name, Mode: 0o644, Size: int64(len(content)), ModTime: d.Released,
			Format: tar.FormatUSTAR,
		}
		if err := archive.WriteHeader(&header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(content); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(archive.Close(), compressed.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Unpack reads the file of Pack.
func Unpack(raw []byte) (*Database, error) {
	d, err := unpackDatabase(raw)
	if err == nil && d.Version == "" {
		return nil, errors.New("the time zone database has no version")
	}
	return d, err
}

// NewerThan reports whether the database is newer than another.
func (d *Database) NewerThan(other *Database) bool { return newer(d.Version, other.Version) }

// base returns the files of the release.
func (d *Database) base() map[string][]byte {
	if d.release != nil {
		return d.release.packed
	}
	return d.packed
}

// Names returns the names of the zones, sorted.
func (d *Database) Names() []string {
	var names []string
	for name := range d.base() {
		if zoneName.MatchString(name) && name != "Factory" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
