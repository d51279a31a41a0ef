package fetch

import (
	"bytes"
	"io"
	"os"
)

// spoolMemory is the size up to which a body is held in memory, in bytes.
const spoolMemory = 1 << 20

// Spool holds the bytes of a body: a few in memory, more in an unnamed file, which vanishes with
// the process.
type Spool struct {
	dir  string
	few  bytes.Buffer
	file *os.File // of all bytes; nil if they are in memory
	size int64
}

// Size returns the number of bytes.
func (s *Spool) Size() int64 { return s.size }

// Reader returns a reader of all bytes.
func (s *Spool) Reader() io.Reader {
	if s.file != nil {
		return io.NewSectionReader(s.file, 0, s.size)
	}
	return bytes.NewReader(s.few.Bytes())
}

func (s *Spool) write(p []byte) error {
	if s.file == nil && s.few.Len()+len(p) <= spoolMemory {
		s.size += int64(len(p))
		_, err := s.few.Write(p)
		return err
	}
	if s.file == nil {
		if err := s.open(); err != nil {
			return err
		}
	}
	n, err := s.file.Write(p)
	s.size += int64(n)
	return err
}

func (s *Spool) open() error {
	f, err := os.CreateTemp(s.dir, "gleaner-body-*")
	if err != nil {
		return err
	}
	_ = os.Remove(f.Name()) // close removes it if an open file cannot be removed
	s.file = f
	_, err = f.Write(s.few.Bytes())
	s.few = bytes.Buffer{}
	return err
}

func (s *Spool) close() {
	if s.file != nil {
		_ = s.file.Close()
		_ = os.Remove(s.file.Name())
	}
}
