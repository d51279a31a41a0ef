package source

import (
	"errors"
	"io"
)

// again is how often in a row, without a byte between, a file is asked for anew.
const again = 3

// resumed reads a file that may be cut off on its way: what is missing is asked for
// again from there on.
type resumed struct {
	open  func(at int64) (io.ReadCloser, error)
	body  io.ReadCloser
	at    int64
	tries int
}

// resume opens a file at a byte, by what opens it at any.
func resume(offset int64, open func(at int64) (io.ReadCloser, error)) (io.ReadCloser, error) {
	body, err := open(offset)
	if err != nil {
		return nil, err
	}
	return &resumed{open: open, body: body, at: offset}, nil
}

func (r *resumed) Read(p []byte) (int, error) {
	for {
		n, err := r.body.Read(p)
		if r.at += int64(n); n > 0 {
			r.tries = 0
		}
		if err == nil || errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return n, err
		}
		if n > 0 {
			return n, nil
		}
		if r.tries++; r.tries > again {
			return 0, away(err)
		}
		_ = r.body.Close()
		body, oerr := r.open(r.at)
		if oerr != nil {
			return 0, oerr
		}
		r.body = body
	}
}

func (r *resumed) Close() error { return r.body.Close() }
