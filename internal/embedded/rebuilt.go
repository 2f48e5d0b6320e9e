package embedded

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ForgetRebuilt removes what is made anew from the database: the counters of
// Redis and the workflows of Temporal. After a restore they are of another time.
func (h *Host) ForgetRebuilt() error {
	return errors.Join(os.RemoveAll(h.path("redis")), os.RemoveAll(h.path("temporal")))
}

// enginesFile says where the engines of this machine are, passwords included,
// for commands beside a running `dateline up`.
const enginesFile = "engines.json"

// note writes down where the engines are.
func (e *Engines) note() error {
	raw, err := json.Marshal(e.Endpoints)
	if err != nil {
		return err
	}
	return os.WriteFile(e.host.path("run", enginesFile), raw, 0o600)
}

// RunningEngines gives the engines of a `dateline up` that runs in this data
// directory.
func RunningEngines(dataDir string) (at Endpoints, err error) {
	raw, err := os.ReadFile(filepath.Join(dataDir, "run", enginesFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return at, fmt.Errorf("no `dateline up` runs with the data directory %s; start it, or set DATELINE_DATA_DIR or the URLs of the engines", dataDir)
	case errors.Is(err, fs.ErrPermission):
		return at, fmt.Errorf("the data directory %s belongs to another user; run this as the user who runs `dateline up`, or as root", dataDir)
	case err != nil:
		return at, err
	}
	return at, json.Unmarshal(raw, &at)
}
