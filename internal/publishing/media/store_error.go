package media

import (
	"errors"
	"fmt"
	"syscall"

	"dateline/internal/infra/apperr"
	"dateline/internal/infra/blob"
)

// storeError converts a full disk to an error that the user can act on, and returns
// other errors unchanged.
func storeError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, blob.ErrFull):
		return storageFull("The object store is full. Free or add space, then upload the file again.")
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return storageFull("The server's disk for temporary files (TMPDIR) is full. Free some space or point TMPDIR " +
			"to a larger disk, then upload the file again.")
	}
	return fmt.Errorf("storing the file: %w", err)
}

func storageFull(message string) *apperr.Error {
	return &apperr.Error{Kind: apperr.KindInsufficientStorage, Code: "insufficient_storage", Message: message}
}
