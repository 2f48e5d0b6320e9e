package embedded

import (
	"os"
	"os/exec"
	"path/filepath"
)

// lookup finds programs and directories; tests replace it.
type lookup struct {
	program     func(name string) (string, error) // like exec.LookPath
	postgresDir func() []string                   // further directories that may hold PostgreSQL's programs
	sourceDirs  func() []string                   // directories that may hold temporald/ or bin/temporald
}

func systemLookup() lookup {
	return lookup{program: exec.LookPath, postgresDir: func() []string { return append(postgresDirs(), bundledPostgres()...) }, sourceDirs: sourceDirs}
}

// sourceDirs returns the working directory, the program's directory and the one above it.
func sourceDirs() []string {
	var dirs []string
	if dir, err := os.Getwd(); err == nil {
		dirs = append(dirs, dir)
	}
	if path, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		dirs = append(dirs, filepath.Dir(path), filepath.Dir(filepath.Dir(path)))
	}
	return dirs
}

// bundledPostgres returns where an archive of a release has PostgreSQL's programs: next to the program.
func bundledPostgres() []string {
	path, err := os.Executable()
	if err != nil {
		return nil
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return []string{filepath.Join(filepath.Dir(path), "postgres", "bin")}
}

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
