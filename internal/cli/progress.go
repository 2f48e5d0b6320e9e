package cli

import (
	"context"
	"fmt"
	"os"

	"dateline/internal/cli/progress"
)

// showProgress adds the flag --quiet to a command that can take long. The returned function
// returns the progress on standard error, above which all logs are written.
func (c *command) showProgress() func() *progress.Line {
	quiet := c.Flags().BoolP("quiet", "q", false, "print no progress")
	return func() *progress.Line {
		if *quiet {
			return nil
		}
		line := progress.New(c.program.Stderr)
		c.program.Stderr = line
		return line
	}
}

// canceled describes the error of a command that was canceled: what is done, and how to
// continue.
func canceled(ctx context.Context, err error, format string, args ...any) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("canceled: "+format, args...)
}

// sizeOf returns the size of a file, or 0 if it is not known in advance.
func sizeOf(f *os.File) int64 {
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		return info.Size()
	}
	return 0
}
