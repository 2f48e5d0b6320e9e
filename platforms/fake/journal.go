package fake

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// openJournal replays the file and appends to it. An incomplete last line, as
// left by a killed process, is dropped. Any other invalid line is an error,
// because the file is not a journal then.
func (s *Server) openJournal(path string) error {
	if err := os.MkdirAll(s.mediaDir(), 0o700); err != nil {
		return fmt.Errorf("create the directory for the sandbox's media: %w", err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open the sandbox's journal: %w", err)
	}
	good, err := s.replay(file)
	if err == nil {
		err = file.Truncate(good)
	}
	if err == nil {
		_, err = file.Seek(good, io.SeekStart)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("read the sandbox's journal %s: %w", path, err), file.Close())
	}
	s.journal = file
	return nil
}

func (s *Server) replay(file io.Reader) (good int64, err error) {
	lines := bufio.NewReader(file)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return good, nil
		}
		if err != nil {
			return good, err
		}
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			return good, fmt.Errorf("line %d is not a record (%w): move the file to start with empty state", number,
				err)
		}
		s.state.apply(r)
		good += int64(len(line))
	}
}

// commit writes a change to the journal, so that it survives the end of this
// process, and applies it. The caller must hold s.mu.
func (s *Server) commit(r record) error {
	if s.journal != nil {
		line, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("encode a change of the sandbox: %w", err)
		}
		if _, err := s.journal.Write(append(line, '\n')); err != nil {
			return fmt.Errorf("write the sandbox's journal: %w", err)
		}
	}
	s.state.apply(r)
	close(s.changed)
	s.changed = make(chan struct{})
	return nil
}

func (s *Server) mediaDir() string { return s.options.Journal + ".media" }

// saveMedia stores the bytes of an upload, next to the journal or in memory.
func (s *Server) saveMedia(id string, data io.Reader) (int64, error) {
	if s.options.Journal == "" {
		bytes, err := io.ReadAll(data)
		if err != nil {
			return 0, err
		}
		s.mu.Lock()
		s.state.data[id] = bytes
		s.mu.Unlock()
		return int64(len(bytes)), nil
	}
	file, err := os.OpenFile(filepath.Join(s.mediaDir(), id), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(file, data)
	return n, errors.Join(err, file.Close())
}

// renameMedia changes the id of an upload.
func (s *Server) renameMedia(from, to string) error {
	if s.options.Journal != "" {
		return os.Rename(filepath.Join(s.mediaDir(), from), filepath.Join(s.mediaDir(), to))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.data[to] = s.state.data[from]
	delete(s.state.data, from)
	return nil
}
