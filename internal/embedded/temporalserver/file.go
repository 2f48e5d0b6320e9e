package temporalserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// note says which server made a SQLite file and that it was ready once. start-dev writes its schema only to a new file,
// and not in one step: a file of a server that was killed meanwhile, or of another version, never works.
type note struct {
	Server string `json:"server"` // version, such as "1.32.0"
}

func notePath(database string) string { return database + ".json" }

// setAsideSuffix is appended to the name of a file that cannot be used. One is kept.
const setAsideSuffix = ".unused"

// PrepareFile makes sure that a server of the given version can use the SQLite file. It moves a
// file away that no server finished, or that belongs to another version, and says why; workflows
// then start again from the database of Dateline. reason is "" if the file can be used or does not exist.
func PrepareFile(database, version string) (reason string, err error) {
	if _, err := os.Stat(database); errors.Is(err, fs.ErrNotExist) {
		return "", errors.Join(removeFiles(database, "-wal", "-shm", ".json"))
	} else if err != nil {
		return "", err
	}
	var made note
	raw, err := os.ReadFile(notePath(database))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		reason = "no server was ever ready on it"
	case err != nil:
		return "", err
	case json.Unmarshal(raw, &made) != nil:
		reason = notePath(database) + " is damaged"
	case schemaOf(made.Server) == schemaOf(version):
		return "", nil
	default:
		reason = fmt.Sprintf("it belongs to Temporal %s, and this is %s", made.Server, version)
	}
	if err := removeFiles(database, setAsideSuffix, setAsideSuffix+"-wal", ".json"); err != nil {
		return "", err
	}
	for _, suffix := range []string{"", "-wal"} {
		err := os.Rename(database+suffix, database+setAsideSuffix+suffix)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return reason, removeFiles(database, "-shm")
}

// MarkReady notes that a server of the given version is ready on the file.
func MarkReady(database, version string) error {
	raw, err := json.Marshal(note{Server: version})
	if err != nil {
		return err
	}
	temporary := notePath(database) + ".new"
	if err := os.WriteFile(temporary, append(raw, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, notePath(database))
}

// schemaOf returns the part of a version that the schema depends on: "1.32" of "1.32.0".
func schemaOf(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

func removeFiles(database string, suffixes ...string) error {
	var errs []error
	for _, suffix := range suffixes {
		if err := os.Remove(database + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
