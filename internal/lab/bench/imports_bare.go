package bench

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/klauspost/compress/gzip"
)

// bareRows is how many rows the bare loop writes in one transaction, as many as an import.
const bareRows = 1000

// BareLoop is what a plain Go loop does with the same archive: the lower bound of an
// import's time.
type BareLoop struct {
	Reading float64 `json:"reading_records_per_second"` // gzip, the records' heads and bodies
	Writing float64 `json:"writing_records_per_second"` // a row for each record, a synced file for each document, too
}

// Bare reads the archive in a plain loop: once alone, and once with what it read written to
// a new database and to files in dir.
func Bare(ctx context.Context, archive, dir string, o ImportOptions) (b BareLoop, err error) {
	if b.Reading, err = perSecond(func() (int, error) { return bareLoop(archive, func(bareRecord) error { return nil }) }); err != nil {
		return b, err
	}
	err = withDatabase(ctx, o.DatabaseURL, func(dsn string) error {
		w, err := newBareWriter(ctx, dsn, dir)
		if err != nil {
			return err
		}
		defer func() { _ = w.conn.Close(context.WithoutCancel(ctx)) }()
		b.Writing, err = perSecond(func() (int, error) {
			n, err := bareLoop(archive, func(r bareRecord) error { return w.add(ctx, r) })
			if err == nil {
				err = w.flush(ctx)
			}
			return n, err
		})
		return err
	})
	return b, err
}

func perSecond(do func() (int, error)) (float64, error) {
	began := time.Now()
	n, err := do()
	return float64(n) / time.Since(began).Seconds(), err
}

// bareRecord is an answer of an archive.
type bareRecord struct {
	url, media string
	body       []byte
}

// bareLoop calls do with each answer of a sound archive, and counts them.
func bareLoop(archive string, do func(bareRecord) error) (n int, err error) {
	f, err := os.Open(filepath.Clean(archive))
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(bufio.NewReaderSize(f, 1<<20))
	if err != nil {
		return 0, err
	}
	in := bufio.NewReaderSize(z, 1<<16)
	lines := textproto.NewReader(in)
	for {
		switch version, err := lines.ReadLine(); {
		case err == io.EOF:
			return n, nil
		case err != nil:
			return n, err
		case version == "": // between two records
			continue
		}
		head, err := lines.ReadMIMEHeader()
		if err != nil {
			return n, err
		}
		length, err := strconv.ParseInt(head.Get("Content-Length"), 10, 64)
		if err != nil {
			return n, fmt.Errorf("bench: %w", err)
		}
		block := bufio.NewReader(io.LimitReader(in, length))
		if head.Get("WARC-Type") == "response" {
			answer, err := http.ReadResponse(block, nil)
			if err != nil {
				return n, err
			}
			body, err := io.ReadAll(answer.Body)
			if err == nil {
				err = do(bareRecord{head.Get("WARC-Target-URI"), answer.Header.Get("Content-Type"), body})
			}
			if err != nil {
				return n, err
			}
			n++
		}
		if _, err := io.Copy(io.Discard, block); err != nil {
			return n, err
		}
	}
}

// bareWriter writes a row for each answer, and a file for each document.
type bareWriter struct {
	conn *pgx.Conn
	dir  string
	rows [][]any
}

func newBareWriter(ctx context.Context, dsn, dir string) (*bareWriter, error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	_, err = conn.Exec(ctx, `CREATE TABLE records (n BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, url TEXT NOT NULL,
		media TEXT NOT NULL, sha256 TEXT NOT NULL, bytes BIGINT NOT NULL)`)
	return &bareWriter{conn: conn, dir: dir}, err
}

func (w *bareWriter) add(ctx context.Context, r bareRecord) error {
	sum := sha256.Sum256(r.body)
	name := hex.EncodeToString(sum[:])
	if r.media == "application/pdf" {
		if err := writeSynced(filepath.Join(w.dir, name), r.body); err != nil {
			return err
		}
	}
	if w.rows = append(w.rows, []any{r.url, r.media, name, len(r.body)}); len(w.rows) < bareRows {
		return nil
	}
	return w.flush(ctx)
}

func writeSynced(path string, body []byte) error {
	f, err := os.Create(filepath.Clean(path))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if _, err = f.Write(body); err != nil {
		return err
	}
	return f.Sync()
}

func (w *bareWriter) flush(ctx context.Context) error {
	_, err := w.conn.CopyFrom(ctx, pgx.Identifier{"records"}, []string{"url", "media", "sha256", "bytes"}, pgx.CopyFromRows(w.rows))
	w.rows = w.rows[:0]
	return err
}
