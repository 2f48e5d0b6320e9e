package s3server

import (
	"os"
	"sync"

	"github.com/johannesboyne/gofakes3/backend/s3afero"
)

// backend adds to the directory what gofakes3 lacks: uploads in parts that are
// kept on disk.
type backend struct {
	*s3afero.MultiBucketBackend

	uploads *os.Root
	mu      sync.Mutex // what there is of uploads
}

func newBackend(base *s3afero.MultiBucketBackend, dir string) (*backend, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	return &backend{MultiBucketBackend: base, uploads: root}, err
}
