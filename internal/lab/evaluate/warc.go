package evaluate

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"

	"gleaner/internal/web/weburl"
)

// maxRecord bounds one record of an archive, in bytes. Larger ones are passed
// over.
const maxRecord = 64 << 20

// ErrTruncated is wrapped by ReadWARC when the file ends within a record. What
// came before is in the archive.
var ErrTruncated = errors.New("evaluate: the WARC file ends within a record")

// ReadWARC reads the responses of a WARC file (ISO 28500), plain or compressed
// record by record, into an archive.
func (a *Archive) ReadWARC(r io.Reader) error {
	in := bufio.NewReaderSize(r, 1<<16)
	if magic, _ := in.Peek(2); len(magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b {
		gz, err := gzip.NewReader(in) // reads all members, one after the other
		if err != nil {
			return fmt.Errorf("evaluate: WARC: %w", err)
		}
		defer gz.Close()
		in = bufio.NewReaderSize(gz, 1<<16)
	}
	for {
		err := a.readRecord(in)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return ErrTruncated
		case err != nil:
			return fmt.Errorf("evaluate: WARC: %w", err)
		}
	}
}

// readRecord reads one record; io.EOF only where none begins.
func (a *Archive) readRecord(in *bufio.Reader) error {
	line := ""
	for line == "" { // records end with two empty lines; some writers give more
		raw, err := in.ReadString('\n')
		if line = strings.TrimSpace(raw); err != nil {
			if line == "" && errors.Is(err, io.EOF) {
				return io.EOF
			}
			return io.ErrUnexpectedEOF
		}
	}
	if !strings.HasPrefix(line, "WARC/") {
		return fmt.Errorf("a record begins with %.40q", line)
	}
	head, err := textproto.NewReader(in).ReadMIMEHeader()
	if err != nil {
		return io.ErrUnexpectedEOF
	}
	size, err := strconv.ParseInt(head.Get("Content-Length"), 10, 64)
	if err != nil || size < 0 {
		return fmt.Errorf("a record of length %q", head.Get("Content-Length"))
	}
	kind := head.Get("WARC-Type")
	if size > maxRecord || kind != "response" && kind != "resource" {
		_, err := io.CopyN(io.Discard, in, size)
		return unexpected(err)
	}
	block := make([]byte, size)
	if _, err := io.ReadFull(in, block); err != nil {
		return io.ErrUnexpectedEOF
	}
	target, err := weburl.Canonical("", strings.Trim(head.Get("WARC-Target-URI"), "<>"))
	if err != nil {
		return nil // dns: and the like
	}
	if kind == "resource" {
		a.Add(Recorded{URL: target, Status: http.StatusOK, Header: http.Header{"Content-Type": {head.Get("Content-Type")}}, Body: block})
		return nil
	}
	if r, ok := readResponse(target, block); ok {
		a.Add(r)
	}
	return nil
}

// readResponse takes an HTTP answer apart. A body that ends too early is kept as
// far as it came.
func readResponse(target string, block []byte) (Recorded, bool) {
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(block)), nil)
	if err != nil {
		return Recorded{}, false
	}
	defer resp.Body.Close()
	var body io.Reader = io.LimitReader(resp.Body, maxRecord)
	if strings.Contains(strings.ToLower(resp.Header.Get("Content-Encoding")), "gzip") {
		if gz, err := gzip.NewReader(body); err == nil {
			body = io.LimitReader(gz, maxRecord)
		}
	}
	data, _ := io.ReadAll(body)
	return Recorded{URL: target, Status: resp.StatusCode, Header: resp.Header, Body: data}, true
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
