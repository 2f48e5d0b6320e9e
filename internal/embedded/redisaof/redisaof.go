// Package redisaof removes an incomplete transaction from the end of Redis'
// append-only file.
//
// A crash can end the file within a transaction, such as the writes of a script. Redis
// then cuts off the incomplete command (aof-load-truncated), but if the file ends within
// a command or within EXEC, it leaves MULTI and the commands before. It has not run them.
// The next transaction is appended behind them, so that the start after the next runs
// them, as a part of it: a script that was repeated counts twice. Seen with Redis 7.0.15
// and 8.2.3 (aof.c, loadSingleAppendOnlyFile, goes to uxeof without valid_before_multi);
// Valkey 9.1.2 has the fix of github.com/valkey-io/valkey/pull/4342.
package redisaof

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Repair cuts off an incomplete transaction at the end of the append-only file of the
// Redis whose data is in dir. Redis must not run. It reads the file's last part, up to
// the size of the data, which Redis reads as well when it starts; it leaves alone what
// it does not understand.
func Repair(dir string) error {
	path, err := lastPart(filepath.Join(dir, "appendonlydir"))
	if path == "" || err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	end, incomplete, err := findTransaction(file)
	if err != nil || !incomplete {
		return err
	}
	if err := file.Truncate(end); err != nil {
		return err
	}
	return file.Sync()
}

// lastPart returns the path of the last incremental part that the manifest lists, ""
// for none.
func lastPart(dir string) (string, error) {
	manifest, err := os.ReadFile(filepath.Join(dir, "appendonly.aof.manifest"))
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	path := ""
	for line := range strings.Lines(string(manifest)) {
		// file appendonly.aof.1.incr.aof seq 1 type i
		f := strings.Fields(line)
		if len(f) >= 6 && f[0] == "file" && f[5] == "i" && f[1] == filepath.Base(f[1]) {
			path = filepath.Join(dir, f[1])
		}
	}
	return path, nil
}

// errFormat is the error for a file that is not a list of commands.
var errFormat = errors.New("unexpected format")

// findTransaction returns where the transaction at the end of the file starts. It is
// incomplete if its EXEC is missing or cut off. Transactions do not nest: a MULTI in one
// follows the remains of an earlier crash.
func findTransaction(file io.Reader) (start int64, incomplete bool, err error) {
	r := reader{Reader: bufio.NewReaderSize(file, 1<<20)}
	for {
		at := r.read
		name, err := r.command()
		switch {
		case errors.Is(err, io.EOF):
			return start, incomplete, nil
		case errors.Is(err, errFormat):
			return 0, false, nil
		case err != nil:
			return 0, false, fmt.Errorf("read the append-only file: %w", err)
		case strings.EqualFold(name, "exec"):
			incomplete = false
		case strings.EqualFold(name, "multi") && !incomplete:
			start, incomplete = at, true
		}
	}
}

// reader counts the bytes that it has read.
type reader struct {
	*bufio.Reader
	read int64
}

// command reads a command and returns its name, "" for an annotation. The error is
// io.EOF if the file ends before or within it.
func (r *reader) command() (name string, err error) {
	line, err := r.line()
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(line, "#") { // such as #TS:1669766400, aof-timestamp-enabled
		return "", nil
	}
	n, err := number(line, '*')
	if err != nil || n == 0 {
		return "", errFormat
	}
	for i := range n {
		if line, err = r.line(); err != nil {
			return "", err
		}
		size, err := number(line, '$')
		if err != nil {
			return "", err
		}
		if i == 0 && size < maxName {
			text := make([]byte, size+len("\r\n"))
			m, err := io.ReadFull(r.Reader, text)
			if r.read += int64(m); err != nil {
				return "", endOf(err)
			}
			name = string(text[:size])
			continue
		}
		m, err := r.Discard(size + len("\r\n"))
		if r.read += int64(m); err != nil {
			return "", endOf(err)
		}
	}
	return name, nil
}

// maxName is longer than any command's name in bytes.
const maxName = 64

// line reads a short line, without its end.
func (r *reader) line() (string, error) {
	text, err := r.ReadSlice('\n')
	r.read += int64(len(text))
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return "", errFormat
	case err != nil:
		return "", err
	}
	return strings.TrimSuffix(string(text), "\r\n"), nil
}

func number(line string, prefix byte) (int, error) {
	if line == "" || line[0] != prefix {
		return 0, errFormat
	}
	n, err := strconv.ParseInt(line[1:], 10, 32)
	if err != nil || n < 0 {
		return 0, errFormat
	}
	return int(n), nil
}

func endOf(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF
	}
	return err
}
