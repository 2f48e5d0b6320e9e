package embedded

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// RemoveRebuildable deletes the data of Redis and Temporal, which is rebuilt from the
// database. After a restore it does not match the database.
func (h *Host) RemoveRebuildable() error {
	return errors.Join(os.RemoveAll(h.path("redis")), os.RemoveAll(h.path("temporal")))
}

// enginesFile contains the addresses and passwords of the engines of a running
// `dateline up`, for other commands.
const enginesFile = "engines.json"

// writeEndpoints writes enginesFile.
func (e *Engines) writeEndpoints() error {
	raw, err := json.Marshal(e.Endpoints)
	if err != nil {
		return err
	}
	return os.WriteFile(e.host.path("run", enginesFile), raw, 0o600)
}

// RunningEngines returns the endpoints of the `dateline up` that runs with a data
// directory.
func RunningEngines(dataDir string) (at Endpoints, err error) {
	raw, err := os.ReadFile(filepath.Join(dataDir, "run", enginesFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return at, fmt.Errorf("no `dateline up` is running with the data directory %s; start it, or set "+
			"DATELINE_DATA_DIR or the URLs of the engines", dataDir)
	case errors.Is(err, fs.ErrPermission):
		return at, fmt.Errorf("the data directory %s belongs to another user; run this command as the user of "+
			"`dateline up`, or as root", dataDir)
	case err != nil:
		return at, err
	}
	return at, json.Unmarshal(raw, &at)
}
