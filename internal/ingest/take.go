package ingest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"gleaner/internal/document"
	"gleaner/internal/ingest/archive"
	"gleaner/internal/ingest/source"
	"gleaner/internal/library/collection"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// item is a resource in hand.
type item struct {
	store.ImportRecord
	of    *Resource
	hash  frontier.Hash
	kind  document.Kind
	skip  string          // why it is passed over
	file  collection.File // of one to be judged: its body is not nil
	page  *page.Page      // of one that is a page, once it was read
	files []frontier.Hash // that the page links to
	kept  *collection.Kept
	again bool     // its file is not read, since it is on record
	as    *verdict // of a trial, on what it is the same as
}

func (it *item) skipped(why, detail string) {
	it.skip, it.Outcome, it.Detail = why, Skipped, why
	if detail != "" {
		it.Detail += ": " + detail
	}
}

// hashOf is the hash of an address; the zero one where it is none of the web's.
func hashOf(raw string) frontier.Hash {
	if url := canonical(raw); url != "" {
		return frontier.HashOf(url)
	}
	return frontier.Hash{}
}

// sniffed is how much of a payload is looked at before the rest is read.
const sniffed = 64 << 10

// take adds a resource to those in hand. The body of one that may be a document, or
// may lead to one, is read.
func (w *work) take(ctx context.Context, r *Resource) error {
	it := &item{of: r}
	it.N, it.URL, it.Source = w.nextNumber(), r.URL, r.Source
	r.Crawled, r.Detail = storable(r.Crawled), brief(r.Detail)
	if err := w.at(ctx, it.N); err != nil {
		return err
	}
	w.items, w.taken = append(w.items, it), w.taken+1
	w.bytes += weight(r)
	if r.Skip != "" {
		it.skipped(r.Skip, r.Detail)
		if r.Skip == Damaged || r.Skip == NoArchive || r.Skip == Changed || r.Skip == Unreadable {
			it.Difference = r.Detail
		}
		return nil
	}
	if it.N == w.fatal() {
		it.Outcome, it.Detail, it.Difference = FailedTextExtract, Fatal, w.before.ended()+" over it"
		return nil
	}
	url := canonical(r.URL)
	if url == "" {
		it.URL = it.URL[:min(len(it.URL), maxURL)]
		it.skipped(NoWeb, "")
		return nil
	}
	it.URL, it.hash = url, frontier.HashOf(url)
	if why, err := w.hidesHost(ctx, weburl.Host(url)); err != nil || why != "" {
		it.skipped(Blacklisted, why)
		return err
	}
	it.file = collection.File{URL: url, Parent: canonical(r.Parent), Header: r.Header, At: r.Crawled}
	if it.file.Header == nil {
		it.file.Header = http.Header{"Content-Type": {r.Media}}
	}
	if now := time.Now(); it.file.At.After(now) {
		it.file.At = now
	} else if it.file.At.IsZero() {
		it.file.At = undated
	}
	it.Difference = r.Note
	var err error
	if r.Again {
		if err = w.wait(); err == nil { // for what may be the answer before
			err = w.takeAgain(ctx, it)
		}
	} else {
		err = w.takeBody(it)
		if r.File != nil {
			r.File.read = true
			if it.isPage() || it.Outcome != "" {
				r.File.as = verdict{it.Kind, cmp.Or(it.Outcome, FilteredMTF), cmp.Or(it.Detail, it.Kind), ""}
			}
		}
	}
	if err == nil && it.Outcome == "" && it.file.Body != nil && (r.Again || !it.isPage()) {
		w.urls[it.hash] = true
	}
	return err
}

// undated is when a resource was got of which nobody says it: it takes the place of no
// version that has a date.
var undated = time.Unix(0, 0).UTC()

// maxURL bounds what is noted of an address that is none of the web's.
const maxURL = 8 << 10

// storable is a time as the record and JSON can hold it in any zone; zero is one that
// they cannot.
func storable(t time.Time) time.Time {
	if year := t.UTC().Year(); year <= 1 || year >= 9999 {
		return time.Time{}
	}
	return t
}

// brief is as much of an error as is noted: some repeat a whole line.
func brief(s string) string {
	const most = 1000
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + " …"
	}
	return s
}

// weight is about what a resource holds of memory without its body: one archive
// has millions of short names in a header, another addresses of a megabyte.
func weight(r *Resource) int64 {
	const field = 100 // bytes of one, beside its text
	n := r.Line + len(r.URL) + len(r.Parent) + len(r.Media) + len(r.SameAs) + len(r.Detail)
	for name, values := range r.Header {
		n += field + len(name)
		for _, v := range values {
			n += field + len(v)
		}
	}
	return int64(n)
}

// canonical is an address as the record has it; "" where it is none of the web's.
func canonical(raw string) string {
	url, _ := weburl.Canonical("", raw)
	return url
}

func isPage(k document.Kind) bool {
	return k == document.HTML || k == document.XML || k == document.PlainText
}

// isPage reports whether an item is read as a page, which one with a verdict on record is not.
func (it *item) isPage() bool { return !it.again && it.as == nil && isPage(it.kind) }

// takeBody reads a payload, as far as it is wanted.
func (w *work) takeBody(it *item) error {
	body, err := it.of.Open()
	if err != nil {
		return it.lost(err)
	}
	defer body.Close()
	head, err := io.ReadAll(io.LimitReader(body, sniffed))
	if err != nil && !errors.Is(err, archive.ErrUnfinished) {
		return it.lost(err)
	}
	it.kind = document.Sniff(path.Base(it.URL), it.of.Media, head)
	it.Kind = string(it.kind)
	if begin := unpackedBegin(it.kind, head); document.Sniff("", "", begin) == document.WebArchive {
		it.skipped(NestedArchive, "import it by format warc or arc")
		return nil
	}
	what := collection.Sniff(it.URL, it.of.Media, head)
	limit := w.DocumentBytes
	switch {
	case what == collection.ContentDocument && w.options.takes(it.kind) && it.of.Cut != "":
		it.Outcome, it.Detail = FailedFileNotFound, brief("cut off by its crawler: "+it.of.Cut)
		return nil
	case what == collection.ContentDocument && w.options.takes(it.kind):
	case what == collection.ContentPage && isPage(it.kind):
		limit = w.PageBytes
	default:
		it.Outcome, it.Detail = FilteredMTF, it.Kind
		return nil
	}
	rest, err := io.ReadAll(io.LimitReader(body, max(limit-int64(len(head)), 0)+1))
	whole := append(head, rest...)
	if errors.Is(err, archive.ErrUnfinished) && it.kind == document.PDF && bytes.Contains(whole[max(0, len(whole)-1024):], []byte("%%EOF")) {
		it.Difference, err = archive.ErrUnfinished.Error()+", and the document has", nil
	}
	it.Bytes = int64(len(whole))
	switch {
	case err != nil:
		return it.lost(err)
	case it.Bytes > limit && what == collection.ContentPage:
		it.Outcome, it.Detail = FilteredMTF, it.Kind
	case it.Bytes > limit:
		it.Outcome, it.Detail = FailedTextExtract, fmt.Sprintf("%s: more than %d bytes", document.TooLarge, limit)
	default:
		it.file.Body = whole
		w.bytes += it.Bytes
		sum := sha1.Sum(whole)
		if it.of.SHA1 != nil && !bytes.Equal(sum[:], it.of.SHA1) {
			it.Difference = notPromised
		}
		if it.of.File != nil {
			it.of.File.sha1 = sum
		}
	}
	return nil
}

const notPromised = "its SHA-1 is not what the log promises"

// unpackedBegin returns the first bytes of what a gzip file holds, or of a file that is none.
func unpackedBegin(kind document.Kind, head []byte) []byte {
	if z, err := gzip.NewReader(bytes.NewReader(head)); kind == document.Gzip && err == nil {
		head = make([]byte, 64)
		n, _ := io.ReadFull(z, head)
		return head[:n]
	}
	return head
}

// lost is a payload that the log promises and does not have whole; it may only be away.
func (it *item) lost(err error) error {
	if err = local(err); errors.Is(err, source.ErrAway) || errors.Is(err, source.ErrRefused) {
		return err
	}
	it.Outcome, it.Detail = FailedFileNotFound, brief(err.Error())
	switch {
	case errors.Is(err, errTooMuch):
		it.Outcome = FailedTextExtract
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		it.Detail = "cut off"
	case errors.Is(err, fs.ErrPermission):
		it.Detail = Unreadable
	}
	it.Difference = "its bytes cannot be read: " + it.Detail
	return nil
}

// takeAgain takes what was as before from the repository. A document is not read for that: a
// few bytes of a log may say so of large ones again and again.
func (w *work) takeAgain(ctx context.Context, it *item) error {
	before := it.hash
	if it.of.SameAs != "" {
		before = hashOf(it.of.SameAs)
	}
	d, header, err := w.DB.Earlier(ctx, it.of.SHA1, before[:], it.of.SameOn)
	if err != nil {
		return err
	}
	if d.SHA256 != "" {
		before = frontier.HashOf(d.SHA256) // the URL may have had other bytes
	}
	if v, is := w.trial.foreseen(it.of.SHA1, before); is {
		it.as, d.Kind = &v, v.kind
	} else if f := it.of.File; d.SHA256 == "" && f != nil && f.as.outcome != "" {
		it.Kind, it.Outcome, it.Detail = f.as.kind, f.as.outcome, f.as.detail
		return nil
	} else if d.SHA256 == "" {
		it.skipped(NoEarlier, it.of.promise())
		return nil
	}
	it.file.Header = http.Header{}
	for k, v := range header {
		it.file.Header.Set(k, v)
	}
	it.kind, it.Kind, it.Bytes = document.Kind(d.Kind), d.Kind, d.Bytes
	switch it.again = it.as == nil && !w.options.Unrecorded; {
	case !w.options.takes(it.kind):
		it.Outcome, it.Detail = FilteredMTF, it.Kind
	case it.again || it.as != nil:
		it.file.Body, it.SHA256 = []byte{}, d.SHA256
	case unpacksOf(w.log).Load() < 0:
		return it.lost(errTooMuch)
	default:
		if it.file.Body, err = w.Repo.Read(ctx, d.SHA256); errors.Is(err, repository.ErrNotFound) {
			return it.lost(err)
		}
		it.SHA256, w.bytes = d.SHA256, w.bytes+d.Bytes
		unpacksOf(w.log).Add(-int64(len(it.file.Body)))
	}
	return err
}

// hidesHost says why resources of a host are passed over; "" for not.
func (w *work) hidesHost(ctx context.Context, host string) (why string, err error) {
	if w.hidden[host] {
		return "by the list of this import", nil
	}
	return remembered(w.hosts, host, func() (string, error) { return w.DB.Blocked(ctx, host) })
}

// remembered returns what is known of a host, or asks for it.
func remembered[V any](known map[string]V, host string, ask func() (V, error)) (v V, err error) {
	v, is := known[host]
	if is {
		return v, nil
	}
	if v, err = ask(); err == nil {
		if len(known) >= keptHosts {
			clear(known)
		}
		known[host] = v
	}
	return v, err
}

// keptHosts is how many hosts, and keptLinks how many links, are kept in mind.
const (
	keptHosts = 50_000
	keptLinks = 50_000
)

// link is what a page of the same log said of a file.
type link struct{ parent, anchor, context, heading string }

// readPage parses a page in hand, unless it stands for another.
func (it *item) readPage() {
	p, err := page.Parse(it.URL, it.file.Header, it.file.Body)
	if err == nil && p.Wall == page.NoWall && !p.SoftMissing {
		it.page = p
	}
}

// maxFiles is how many files of one page are put on record as linked there, at most.
const maxFiles = 1000

// learn keeps in mind which files a page leads to: few logs say where a document was
// found.
func (w *work) learn(it *item) {
	p, most := it.page, float64(maxFiles)
	packed, is := w.log.(*archives)
	if is {
		most = min(most, packed.links)
		defer func() { packed.links -= float64(len(it.files)) }()
	}
	met := map[frontier.Hash]bool{frontier.HashOf(p.URL): true}
	for l := range p.Files() {
		h := frontier.HashOf(l.URL)
		if !met[h] && float64(len(it.files)+1) <= most {
			it.files = append(it.files, h)
		}
		met[h] = true
		if len(w.links) >= keptLinks {
			clear(w.links)
		}
		if w.links[h] == (link{}) {
			w.links[h] = link{p.URL, strings.Clone(l.Anchor), strings.Clone(l.Context), strings.Clone(l.Heading)}
		}
	}
}

// found gives a file the words of the page that leads to it.
func (w *work) found(it *item) {
	l, ok := w.links[it.hash]
	it.file.Parent = cmp.Or(canonical(it.of.Parent), l.parent)
	if ok && it.file.Parent == l.parent {
		it.file.Anchor, it.file.Context, it.file.Heading = l.anchor, l.context, l.heading
	}
}
