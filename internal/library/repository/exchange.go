package repository

import (
	"crypto/sha1"
	"fmt"
	"io"
	"net/http"
	"strings"

	"gleaner/internal/fetch"
)

// The profiles of revisit records (WARC/1.1, section 6.7).
const (
	samePayload = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
	notModified = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
)

// original is the record of a payload that comes again.
type original struct{ id, url, date string }

// Origin says where the address of an exchange was found.
type Origin struct {
	Via   string // the page that links to it; "" where nobody says
	Depth int    // links from the seed; negative where nobody says
}

// Exchange writes what a crawl sent and what came: the answer, or a revisit of an
// earlier record where it is as before; the request; and where the address was found.
// What brought no answer is a metadata record alone, which says why.
func (w *WARC) Exchange(e *fetch.Exchanged, from Origin) error {
	w.written++
	id := func(kind string) string {
		return recordID(fmt.Sprintf("%s %s %d %s", w.info, kind, w.written, e.URL), e.At)
	}
	said, about := "", id("response")
	if e.Status != "" {
		if err := w.answer(e, about); err != nil {
			return err
		}
		h := w.fields(e, "request", "application/http;msgtype=request", "WARC-Concurrent-To: "+about)
		if err := w.record(h, e.At, id("request"), []byte(e.Request)); err != nil {
			return err
		}
	} else {
		said = "outcome: " + string(e.Outcome) + "\r\n"
	}
	if from.Via != "" {
		said += "via: " + oneLine(from.Via) + "\r\n"
	}
	if from.Depth >= 0 {
		said += "hopsFromSeed: " + strings.Repeat("L", from.Depth) + "\r\n"
	}
	if said == "" {
		return nil
	}
	h := w.fields(e, "metadata", "application/warc-fields")
	if e.Status != "" {
		h = append(h, "WARC-Concurrent-To: "+about)
	}
	return w.record(h, e.At, id("metadata"), []byte(said))
}

// fields are those of a record of an exchange.
func (w *WARC) fields(e *fetch.Exchanged, kind, media string, more ...string) []string {
	h := []string{"WARC-Type: " + kind, "WARC-Target-URI: " + oneLine(e.URL), "Content-Type: " + media, "WARC-Warcinfo-ID: " + w.info}
	if e.Address.IsValid() {
		h = append(h, "WARC-IP-Address: "+e.Address.String())
	}
	return append(h, more...)
}

// mayLead reports whether an answer may be a page: where one leads depends on its own
// address, too, so that a reader wants its bytes each time.
func mayLead(h http.Header) bool {
	media := strings.ToLower(strings.TrimSpace(h.Get("Content-Type")))
	return media == "" || strings.HasPrefix(media, "text/") || strings.Contains(media, "html") || strings.Contains(media, "xml")
}

// answer writes what came.
func (w *WARC) answer(e *fetch.Exchanged, id string) error {
	size := e.Body.Size()
	payload := sha1.New()
	if _, err := io.Copy(payload, e.Body.Reader()); err != nil {
		return typed(err)
	}
	digest := digestText(payload.Sum(nil))
	const media = "application/http;msgtype=response"
	first, again := w.first[digest]
	switch {
	case e.Code() == http.StatusNotModified:
		h := w.fields(e, "revisit", media, "WARC-Profile: "+notModified, "WARC-Refers-To-Target-URI: "+oneLine(e.URL))
		return w.record(h, e.At, id, []byte(answerHead(e.Status, e.Header, -1)))
	case size == 0 || e.Cut != "" || mayLead(e.Header):
	case again:
		h := w.fields(e, "revisit", media, "WARC-Profile: "+samePayload, "WARC-Payload-Digest: "+digest,
			"WARC-Refers-To: "+first.id, "WARC-Refers-To-Target-URI: "+oneLine(first.url), "WARC-Refers-To-Date: "+first.date)
		return w.record(h, e.At, id, []byte(answerHead(e.Status, e.Header, -1)))
	default:
		w.first[digest] = original{id, e.URL, warcDate(e.At)}
	}
	h := w.fields(e, "response", media, "WARC-Payload-Digest: "+digest)
	var not []string
	if e.Header.Get("Content-Length") != fmt.Sprint(size) {
		not = []string{"Content-Length"} // a reader would wait for what is not there
	}
	if e.Cut != "" {
		h = append(h, "WARC-Truncated: "+e.Cut)
	}
	head := answerHead(e.Status, e.Header, size, append(not, "Transfer-Encoding")...)
	block := sha1.New()
	_, _ = io.WriteString(block, head)
	if _, err := io.Copy(block, e.Body.Reader()); err != nil {
		return typed(err)
	}
	return w.write(h, e.At, id, []byte(head), e.Body.Reader(), digestText(block.Sum(nil)), int64(len(head))+size)
}
