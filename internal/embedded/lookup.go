package embedded

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"dateline/internal/embedded/programs"
)

// lookup finds programs on this machine; tests replace it.
type lookup struct {
	program  func(name string) (string, error) // like exec.LookPath
	postgres func() []string                   // directories that may hold PostgreSQL's programs; nil: the usual ones
}

func systemLookup() lookup { return lookup{program: exec.LookPath} }

func (l lookup) finder(progress io.Writer) programs.Finder {
	return programs.Finder{LookPath: l.program, Dirs: bundledPrograms(), Postgres: l.postgres, Progress: progress}
}

// programDir returns the directory of this program, or "".
func programDir() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return filepath.Dir(path)
}

// bundledPrograms returns where a release has the programs of Redis and Temporal; those of PostgreSQL are next to it.
func bundledPrograms() []string { return []string{filepath.Join(programDir(), "engines")} }

// othersCanRun reports whether an unprivileged user can run a program, which may be below /root.
func othersCanRun(path string) bool {
	for p := path; ; p = filepath.Dir(p) {
		info, err := os.Stat(p)
		if err != nil || info.Mode()&0o001 == 0 {
			return false
		}
		if p == filepath.Dir(p) {
			return true
		}
	}
}

// TemporalProgram returns the path of the Temporal CLI, which is fetched if there is none.
func TemporalProgram(ctx context.Context, progress io.Writer) (string, error) {
	return systemLookup().finder(progress).Temporal(ctx)
}
