package ingest

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/ingest/source"
	"gleaner/internal/lab/packtest"
	"gleaner/internal/record/store"
)

// plainRecord is a WARC record that is not compressed.
func plainRecord(url, more, body string) string {
	return blockRecord(url, more, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"+body)
}

func blockRecord(url, more, block string) string {
	return fmt.Sprintf("WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nContent-Type: application/http; msgtype=response\r\n"+
		"WARC-Date: 2004-05-06T07:08:09Z\r\n%sContent-Length: %d\r\n\r\n%s\r\n\r\n", url, more, len(block), block)
}

// arcFile is an ARC file of version 1 with lines before bodies.
func arcFile(records ...string) []byte {
	return []byte("filedesc://x.arc 0.0.0.0 20140301000000 text/plain 66\n1 0 Some\nURL IP-address Archive-date Content-type Archive-length\n\n" +
		strings.Join(records, ""))
}

// irregular is an archive with something that other readers go on behind, and what each of
// its resources must come to: "read", with the date and the length where they are the
// point, the error of its body, or why it is skipped.
type irregular struct {
	name string
	data []byte
	want string
}

func irregulars() []irregular {
	first, last := plainRecord("http://a.test/1", "", "first"), plainRecord("http://a.test/3", "", "third")
	odd := func(old, new string) string {
		return strings.Replace(plainRecord("http://a.test/2", "", "second"), old, new, 1)
	}
	three := func(name, middle, want string) irregular {
		return irregular{name, []byte(first + middle + last), "/1 read; " + want + "/3 read"}
	}
	packed := func(name, middle, want string) irregular {
		return irregular{name, packtest.Gzip(first, middle, last), "/1 read; " + want + "/3 read"}
	}
	flipped := packtest.Gzip(first, odd("", ""), last)
	flipped[len(packtest.Gzip(first, odd("", "")))-14] ^= 4
	holed := []byte(first + odd("", "") + last)
	copy(holed[len(first)+20:], make([]byte, 120))
	member := func(b []byte) string { return string(b) }
	digest := "WARC-Payload-Digest: sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\n"
	block := "WARC-Block-Digest: sha1:0000000000000000000000000000000000000000\r\n"
	dated := func(date string) string { return odd("2004-05-06T07:08:09Z", date) }
	headed := func(head string) string { return blockRecord("http://a.test/2", "", head+"\r\n\r\nsecond") }
	rows := []irregular{
		three("length too short", odd("Content-Length: 51", "Content-Length: 49"), "/2 read; damaged; "),
		packed("length too short, packed", odd("Content-Length: 51", "Content-Length: 49"), "/2 read; damaged; "),
		three("length too long", odd("Content-Length: 51", "Content-Length: 99"), "/2 damaged; damaged; "),
		packed("length too long, packed", odd("Content-Length: 51", "Content-Length: 99"), "/2 cut off; "),
		three("length beyond the end", odd("Content-Length: 51", "Content-Length: 99999"), "/2 damaged; damaged; "),
		three("no length", odd("Content-Length", "X"), "damaged; "),
		three("folded length", odd("Content-Length: ", "Content-Length:\r\n  "), "/2 read; "),
		three("lower case", strings.ToLower(odd("", "")), "/2 read; "),
		three("another version", odd("WARC/1.0", "WARC/0.18"), "/2 read; "),
		three("blank header", "WARC/1.0\r\n\r\n\r\n", "damaged; "),
		three("damaged version", odd("WARC/1.0", "WXRC/1.0"), "damaged; "),
		three("garbage between records", "garbage\n", "damaged; "),
		{"a hole of zeros", holed, "/1 read; damaged; /3 read"},
		{"a flipped bit, packed", flipped, "/1 read; /2 damaged; damaged; /3 read"},
		{"zeros between members", []byte(member(packtest.Gzip(first)) + strings.Repeat("\x00", 999) + member(packtest.Gzip(last)) + "\x00\x00"), "/1 read; /3 read"},
		{"garbage between members", []byte(member(packtest.Gzip(first)) + "garbage" + member(packtest.Gzip(last))), "/1 read; damaged; /3 read"},
		{"damaged beginning", append([]byte("x"), packtest.Gzip(first, last)[1:]...), "damaged; /3 read"},
		three("wrong payload digest", odd("Content-Length", digest+"Content-Length"), "/2 damaged; "),
		packed("wrong block digest", odd("Content-Length", block+"Content-Length"), "/2 damaged; "),
		three("coding that is not there", headed("HTTP/1.1 200 OK\r\nContent-Encoding: br"), "/2 read, not as its header says; "),
		three("coding that is not there, deflate", headed("HTTP/1.1 200 OK\r\nContent-Encoding: deflate"), "/2 read, not as its header says; "),
		three("coding that is not there, twice", headed("HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip"), "/2 read, not as its header says; "),
		three("a part that is the whole", headed("HTTP/1.1 206 Partial\r\nContent-Range: bytes 0-5/6"), "/2 read; "),
		three("a part", headed("HTTP/1.1 206 Partial\r\nContent-Range: bytes 0-5/7"), "/2 status 206; "),
		three("got by FTP", odd("WARC-Target-URI: http://a.test/2", "WARC-Target-URI: ftp://u@a.test:21/2"), "/2 read; "),
		three("conversion", odd("response", "conversion"), "/2 read; "),
		three("continuation", odd("response", "continuation"), "/2 in segments; "),
		{"ARC without a type", arcFile("http://a.test/1 1.2.3.4 20110804181142  24\nHTTP/1.1 200 OK\r\n\r\nfirst\n"), "/1 read"},
		{"ARC of HTTP/0.9", arcFile("http://a.test/1 1.2.3.4 20110804181142 text/plain 5\nfirst\n"), "/1 read"},
		three("answer without a head", blockRecord("http://a.test/2", "", "%PDF-1"), "/2 read; "),
		{"ARC length too short", arcFile("http://a.test/1 1.2.3.4 20110804181142 text/plain 20\nHTTP/1.1 200 OK\r\n\r\nfirst\n",
			"http://a.test/2 1.2.3.4 20110804181142 text/plain 25\nHTTP/1.1 200 OK\r\n\r\nsecond\n"), "/1 read; damaged; /2 read"},
		{"ARC date of 12 digits", arcFile("http://a.test/1 1.2.3.4 201108041811 text/plain 24\nHTTP/1.1 200 OK\r\n\r\nfirst\n"), "/1 read 2011-08-04T18:11:00Z"},
	}
	for said, want := range map[string]string{"2004": "2004-01-01T00:00:00Z", "2004-05": "2004-05-01T00:00:00Z", "2004-05-06": "2004-05-06T00:00:00Z",
		"2004-05-06T07Z": "2004-05-06T07:00:00Z", "2004-05-06T07:08Z": "2004-05-06T07:08:00Z", "20040506070809": "2004-05-06T07:08:09Z",
		"2004-05-06t07:08:09z": "2004-05-06T07:08:09Z", "2004-05-06T07:08:09": "2004-05-06T07:08:09Z"} {
		rows = append(rows, irregular{"date " + said, []byte(dated(said)), "/2 read " + want})
	}
	return rows
}

// TestIrregular: of each irregular archive every resource comes to what the table says,
// also where reading begins again at any of them.
func TestIrregular(t *testing.T) {
	t.Parallel()
	for _, row := range irregulars() {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			path := written(t, "x.warc", row.data)
			got, places := resources(t, path, Position{}, strings.Contains(row.want, "Z"))
			require.Equal(t, row.want, strings.Join(got, "; "))
			for i, at := range places {
				rest, _ := resources(t, path, at, strings.Contains(row.want, "Z"))
				require.Equal(t, got[i:], rest, "from %+v", at)
			}
		})
	}
}

// resources says what each resource of an archive comes to, and where it stands.
func resources(t *testing.T, path string, from Position, dates bool) (all []string, places []Position) {
	log := openAt(t, source.Places{}, Options{Paths: []string{path}}, from)
	defer log.Close()
	for r := range rest(t, log) {
		places = append(places, r.At)
		name := strings.TrimPrefix(r.URL, "http://a.test")
		what := r.Skip
		if r.Open != nil {
			it := &item{of: r}
			body, err := r.Open()
			if err == nil {
				_, err = io.ReadAll(body)
			}
			what = "read"
			if err != nil {
				require.NoError(t, it.lost(err))
				what, _, _ = strings.Cut(it.Detail, ":")
			} else if r.Note != "" {
				what += ", not as its header says"
			}
			if dates {
				what += r.Crawled.UTC().Format(" 2006-01-02T15:04:05Z")
			}
		}
		all = append(all, strings.TrimPrefix(name+" "+what, " "))
	}
	return all, places
}

// TestIrregularIsDocumented: the page for users has a row for each irregular archive, with what
// comes of its records, and no other.
func TestIrregularIsDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/import.md")
	require.NoError(t, err)
	want := map[string]string{}
	for _, row := range irregulars() {
		name, packed, _ := strings.Cut(row.name, ",")
		if strings.HasPrefix(name, "date ") {
			name = "date of another precision"
		}
		switch is := outcomesOf(row.want); {
		case want[name] == "" || want[name] == is:
			want[name] = is
		default:
			want[name] += ";" + packed + ": " + is
		}
	}
	_, table, found := strings.Cut(string(page), "| what is irregular | its records | |\n|---|---|---|\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	documented := map[string]string{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		for name := range strings.SplitSeq(cells[1], ",") {
			documented[strings.TrimSpace(name)] = strings.TrimSpace(cells[2])
		}
	}
	require.Equal(t, want, documented)
}

// outcomesOf counts what the resources of an archive come to.
func outcomesOf(want string) string {
	counts := map[string]int{}
	for _, what := range strings.Split(want, "; ") {
		if strings.HasPrefix(what, "/") {
			_, what, _ = strings.Cut(what, " ")
		}
		if date := strings.Index(what, " 20"); date > 0 && strings.HasSuffix(what, "Z") {
			what = what[:date]
		}
		what, _, _ = strings.Cut(what, ",")
		counts[what]++
	}
	var all []string
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, fmt.Sprintf("%s %d", what, counts[what]))
	}
	return strings.Join(all, ", ")
}

// TestIrregularImport: what comes of documents in an irregular archive, and in which order
// they come makes no difference.
func TestIrregularImport(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	pdf, other := s.pdf(1), s.pdf(2)
	chunk := func(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }
	undated := func(url, head, body string) []byte {
		return packtest.Gzip(strings.Replace(blockRecord(url, "", "HTTP/1.1 200 OK\r\n"+head+"\r\n"+body), "WARC-Date", "X", 1))
	}
	packed := packtest.Gzip(s.pdf(5))
	path := s.write("a.warc.gz", bytes.Join([][]byte{
		revisit("http://a.example/same.pdf", "WARC-Refers-To-Target-URI: http://a.example/1.pdf\r\nWARC-Refers-To-Date: 2026-01-02T03:04:05Z\r\n"),
		revisit("http://a.example/never.pdf", ""),
		record("metadata", "http://a.example/1.pdf", "application/warc-fields", "", "via: http://a.example/list.html\r\n"),
		record("request", "http://a.example/x", "application/http; msgtype=request", "", "GET /x HTTP/1.1\r\nReferer: http://a.example/\r\n\r\n"),
		answer("http://a.example/1.pdf", "", pdf),
		answer("http://a.example/2.pdf", "Transfer-Encoding: chunked\r\n", chunk(other)),
		answer("http://a.example/cut.pdf", "Transfer-Encoding: chunked\r\n", chunk(other[:len(other)/2])),
		record("response", "http://a.example/3.pdf", "application/http; msgtype=response", "WARC-Payload-Digest: sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\n",
			"HTTP/1.1 200 OK\r\n\r\n"+s.pdf(3)),
		undated("http://a.example/undated.pdf", "", s.pdf(4)),
		answer("http://a.example/packed.pdf", "Content-Encoding: gzip\r\n", string(packed[:len(packed)-8])),
		undated("http://a.example/answered.pdf", "Date: Sat, 02 Jul 2005 03:04:05 GMT\r\n", s.pdf(6)),
	}, nil))
	day := time.Date(2005, 6, 30, 0, 0, 0, 0, time.UTC)
	require.NoError(t, os.Chtimes(path, day, day))
	c, by := s.imported(Options{Paths: []string{path}})
	for url, want := range map[string]string{"same": SavedNew, "1": SavedNew, "2": SavedNew, "cut": FailedFileNotFound, "3": FailedFileNotFound, "undated": SavedNew, "never": Skipped,
		"packed": SavedNew, "answered": SavedNew} {
		require.Equal(t, want, by["http://a.example/"+url+".pdf"].Outcome, "%s: %+v", url, by["http://a.example/"+url+".pdf"])
	}
	require.Equal(t, by["http://a.example/1.pdf"].SHA256, by["http://a.example/same.pdf"].SHA256)
	require.Equal(t, "http://a.example/list.html", by["http://a.example/1.pdf"].Parent)
	require.Equal(t, map[string]int64{NoEarlier: 1}, c.Skipped)
	require.EqualValues(t, 8, c.All)
	require.Equal(t, "cut off", by["http://a.example/cut.pdf"].Detail)
	require.Contains(t, by["http://a.example/3.pdf"].Detail, "damaged")
	require.NotEmpty(t, by["http://a.example/2.pdf"].Difference)
	require.NotEmpty(t, by["http://a.example/packed.pdf"].Difference, "its coding has no end")
	require.True(t, time.Date(2005, 7, 2, 3, 4, 5, 0, time.UTC).Equal(*by["http://a.example/answered.pdf"].Crawled), "its answer's Date")
	require.True(t, day.Equal(*by["http://a.example/undated.pdf"].Crawled), "its file's time: %v", by["http://a.example/undated.pdf"].Crawled)
}

// TestWhyAnImportWaits: the row of an import whose place is away says why.
func TestWhyAnImportWaits(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	web := &site{files: map[string]string{"/a.warc.gz": string(packtest.Gzip(plainRecord("http://a.test/1", "", "first")))}}
	var away atomic.Bool
	away.Store(true)
	web.say = func(w http.ResponseWriter, _ *http.Request) bool { return away.Load() && hangUp(w) }
	s.Places = source.Places{Asker: asker(t, nil)}
	run := s.addImport(Options{Paths: []string{web.serve(t) + "/a.warc.gz"}})
	_, err := s.Import(t.Context(), run, time.Hour, func(Progress) {})
	require.ErrorIs(t, err, source.ErrAway)
	job, err := s.DB.Job(t.Context(), run.Job)
	require.NoError(t, err)
	require.Equal(t, store.JobRunning, job.State)
	require.NotEmpty(t, job.Note)
	away.Store(false)
	_, err = s.Import(t.Context(), run, time.Hour, func(Progress) {})
	require.NoError(t, err)
	job, err = s.DB.Job(t.Context(), run.Job)
	require.NoError(t, err)
	require.Empty(t, job.Note)
}

// TestUnanswered: an import of a server that nobody can reach ends before it begins; one that
// had begun waits.
func TestUnanswered(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	s.Places = source.Places{Asker: asker(t, nil)}
	run := s.addImport(Options{Paths: []string{server.URL + "/a.warc.gz"}})
	_, err := s.Import(t.Context(), run, time.Hour, func(Progress) {})
	require.ErrorIs(t, err, ErrInput)
	storetest.Exec(t, s.DB.Pool, `UPDATE jobs SET done=1`)
	_, err = s.Import(t.Context(), run, time.Hour, func(Progress) {})
	require.ErrorIs(t, err, source.ErrAway)
	require.NotErrorIs(t, err, ErrInput)
}

// TestUnreadable: a file that may not be read is named so; an error that passes is none of
// the file's.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	path := written(t, "x.warc", nil)
	log, err := openArchives(t.Context(), source.Places{}, Options{Paths: []string{path}}, Position{})
	require.NoError(t, err)
	r, err := log.broken(&fs.PathError{Op: "open", Path: path, Err: syscall.EACCES})
	require.NoError(t, err)
	require.Equal(t, Unreadable, r.Skip)
	for _, passing := range []error{syscall.EMFILE, syscall.EIO, syscall.ESTALE} {
		_, err = log.broken(local(&fs.PathError{Op: "read", Path: path, Err: passing}))
		require.ErrorIs(t, err, source.ErrAway)
	}
}

// TestOtherPackings: what is packed in a way that is not read is named by it.
func TestOtherPackings(t *testing.T) {
	t.Parallel()
	for magic, want := range map[string]string{"BZh91AY&SY": "bzip2", "\x04\x22\x4d\x18": "lz4"} {
		r := next(t, mustOpen(t, Options{Paths: []string{written(t, "x.warc."+want, []byte(magic+"packed"))}}))
		require.Equal(t, NoArchive, r.Skip)
		require.Contains(t, r.Detail, want)
	}
}
