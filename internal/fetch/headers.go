package fetch

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// longestRetryAfter bounds Retry-After; pacing bounds it further.
const longestRetryAfter = 30 * 24 * time.Hour

// RetryAfter returns the pause of a Retry-After header (RFC 9110 section 10.2.3), or 0 if it is
// missing or invalid. A date is relative to the answer's own Date, since clocks differ, or to
// now.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if v == "" {
		return 0
	}
	var up time.Duration
	if whole, part, ok := strings.Cut(v, "."); ok && isDigits(whole) && isDigits(part) {
		v = whole
		if strings.Trim(part, "0") != "" {
			up = time.Second // not in the standard, but sent by some APIs
		}
	}
	if isDigits(v) {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n > int64(longestRetryAfter/time.Second) {
			return longestRetryAfter
		}
		return min(time.Duration(n)*time.Second+up, longestRetryAfter)
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	if d, err := http.ParseTime(h.Get("Date")); err == nil {
		now = d
	}
	return min(max(at.Sub(now), 0), longestRetryAfter)
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// mediaType returns a Content-Type's type in lower case without parameters.
func mediaType(contentType string) string {
	t, _, _ := strings.Cut(contentType, ";")
	t, _, _ = strings.Cut(t, ",") // two headers folded into one
	return strings.ToLower(strings.TrimSpace(t))
}

// Kind is the kind of an answer, which sets its size limit.
type Kind int

// Kinds of answers: a page is parsed, a document is stored, media are not used.
const (
	KindDocument Kind = iota
	KindPage
	KindMedia
)

// kindOf returns the kind of a Content-Type. An unknown type or plain text, which servers send
// for PostScript, may be a document.
func kindOf(contentType string) Kind {
	t := mediaType(contentType)
	switch {
	case t == "text/html", t == "application/xhtml+xml", t == "text/css", t == "text/javascript",
		t == "application/javascript", t == "application/json", t == "application/rss+xml", t == "application/atom+xml":
		return KindPage
	case strings.HasPrefix(t, "image/vnd.djvu"), strings.HasPrefix(t, "image/x.djvu"):
		return KindDocument
	case strings.HasPrefix(t, "image/"), strings.HasPrefix(t, "audio/"), strings.HasPrefix(t, "video/"), strings.HasPrefix(t, "font/"):
		return KindMedia
	default:
		return KindDocument
	}
}

// looksLikeDocument reports whether an answer sent as text/html begins like a document.
func looksLikeDocument(head []byte) bool {
	s := string(head[:min(len(head), 8)])
	return strings.HasPrefix(s, "%PDF-") || strings.HasPrefix(s, "%!PS") || strings.HasPrefix(s, "\x1f\x8b") || strings.HasPrefix(s, "PK\x03\x04")
}
