package page

import (
	"bytes"
	"mime"
	"slices"
	"unicode/utf8"

	"github.com/saintfish/chardet"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

const (
	utf8Name      = "utf-8"
	latin1Name    = "windows-1252"
	iso2022JPName = "iso-2022-jp"
	// prescan is how far into a page its character set may be declared. The
	// standard says 1,024 bytes; real pages have it after their styles.
	prescan = 8 << 10
	// detectMost is how much of a page its character set is guessed from.
	detectMost = 16 << 10
	// guessMost is how much of its text the guess itself sees: 0.1 ms a KiB.
	guessMost = 4 << 10
)

// decode turns a body into UTF-8 and names what it was. In order: a byte order
// mark; what the bytes say for themselves where header and page are at odds
// with them (valid UTF-8 is UTF-8, escape sequences are ISO-2022-JP); the
// header; the page's own declaration; a guess. A declaration under which the
// bytes make no sense is passed over, for the commonest lie is a server's
// default.
func decode(contentType string, body []byte) (text []byte, name string) {
	if name, rest := byteOrderMark(body); name != "" {
		return transcode(rest, name)
	}
	if name := looksUTF16(body); name != "" {
		return transcode(body, name)
	}
	header := headerCharset(contentType)
	if isASCII(body) {
		if bytes.IndexByte(body, 0x1b) >= 0 && hasJISEscapes(body) {
			return transcode(body, iso2022JPName)
		}
		return body, utf8Name
	}
	if utf8.Valid(body) {
		return body, utf8Name
	}
	meta := metaCharset(body[:min(len(body), prescan)])
	if header == latin1Name && meta != "" && meta != latin1Name {
		header = "" // the server's default, against the author's word
	}
	for _, name := range []string{header, meta} {
		if name != "" && plausible(body[:min(len(body), detectMost)], name, 50) {
			return transcode(body, name)
		}
	}
	return transcode(body, detect(body, header, meta))
}

// byteOrderMark knows the marks of UTF-8 and UTF-16.
func byteOrderMark(body []byte) (name string, rest []byte) {
	switch {
	case bytes.HasPrefix(body, []byte{0xef, 0xbb, 0xbf}):
		return utf8Name, body[3:]
	case bytes.HasPrefix(body, []byte{0xfe, 0xff}):
		return "utf-16be", body[2:]
	case bytes.HasPrefix(body, []byte{0xff, 0xfe}):
		return "utf-16le", body[2:]
	}
	return "", body
}

// looksUTF16 knows UTF-16 by markup in which every second byte is zero.
func looksUTF16(body []byte) string {
	n := min(len(body), 256) &^ 1
	if n < 8 {
		return ""
	}
	var zeros [2]int
	for i, c := range body[:n] {
		if c == 0 {
			zeros[i&1]++
		}
	}
	switch half := n / 2; {
	case zeros[0] > half*3/4 && zeros[1] == 0:
		return "utf-16be"
	case zeros[1] > half*3/4 && zeros[0] == 0:
		return "utf-16le"
	}
	return ""
}

// headerCharset reads the charset parameter of a Content-Type.
func headerCharset(contentType string) string {
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil && params == nil {
		return ""
	}
	return canonicalCharset(params["charset"])
}

// canonicalCharset is the name of a label in the Encoding Standard, "" if it
// has none.
func canonicalCharset(label string) string {
	switch label {
	case "":
		return ""
	case "GB-18030": // what chardet calls it
		return "gb18030"
	}
	_, name := charset.Lookup(label)
	return name
}

// metaCharset finds a declaration in the page: <meta charset>, <meta
// http-equiv> or <?xml encoding?>. What says UTF-16 can only be UTF-8.
func metaCharset(head []byte) string {
	for rest := head; ; {
		i := indexFold(rest, "charset")
		if i < 0 {
			break
		}
		rest = rest[i+len("charset"):]
		if name := charsetValue(rest); name != "" {
			return name
		}
	}
	if bytes.HasPrefix(head, []byte("<?xml")) {
		if i := bytes.Index(head, []byte("encoding")); i >= 0 && i < 100 {
			return charsetValue(head[i+len("encoding"):])
		}
	}
	return ""
}

// charsetValue reads `= "name"`.
func charsetValue(b []byte) string {
	b = bytes.TrimLeft(b[:min(len(b), 64)], " \t\r\n")
	if len(b) == 0 || b[0] != '=' {
		return ""
	}
	b = bytes.TrimLeft(b[1:], " \t\r\n\"'")
	if end := bytes.IndexAny(b, "\"'; \t\r\n/>"); end >= 0 {
		b = b[:end]
	}
	name := canonicalCharset(string(b))
	if name == "utf-16le" || name == "utf-16be" {
		return utf8Name
	}
	return name
}

// indexFold finds a lower-case ASCII word whatever its case in b.
func indexFold(b []byte, word string) int {
	for i := 0; i+len(word) <= len(b); i++ {
		if b[i]|0x20 == word[0] && equalFold(b[i:i+len(word)], word) {
			return i
		}
	}
	return -1
}

// plausible reports whether a sample can have been written in a character set: at most one in so
// many of its bytes over 127 make no sense there; with 0, none of them.
func plausible(sample []byte, name string, oneIn int) bool {
	out, known := decoded(sample, name)
	errs, allowed := bytes.Count(out, []byte("\uFFFD")), 0
	if oneIn > 0 {
		high := 0
		for _, c := range sample {
			high += int(c >> 7)
		}
		allowed = 1 + high/oneIn
	}
	return known && errs <= allowed
}

// decoded decodes bytes out of a character set, if there is such a set. What makes no sense there
// becomes U+FFFD.
func decoded(b []byte, name string) (out []byte, known bool) {
	enc, err := htmlindex.Get(name)
	if err != nil || enc == encoding.Replacement {
		return nil, false
	}
	out, err = enc.NewDecoder().Bytes(b)
	return out, err == nil
}

// transcode decodes body, whose character set is known.
func transcode(body []byte, name string) ([]byte, string) {
	if name != utf8Name {
		if out, ok := decoded(body, name); ok {
			return out, name
		}
	}
	return bytes.ToValidUTF8(body, []byte("\uFFFD")), utf8Name
}

// detect guesses a character set from the text between the tags. Where the
// guess is weak, windows-1252 is what most of the old web is in.
func detect(body []byte, declared ...string) string {
	sample := highText(body)
	for _, name := range declared {
		if name == utf8Name && mostlyUTF8(sample) {
			return utf8Name
		}
	}
	all, err := chardet.NewTextDetector().DetectAll(sample)
	if err != nil {
		return latin1Name
	}
	latin := 0 // confidence in the default
	for _, r := range all {
		if r.Charset == "ISO-8859-1" || r.Charset == "windows-1252" {
			latin = max(latin, r.Confidence)
		}
	}
	// First those under which every byte makes sense: the frequencies that the
	// guess goes by are near each other for Chinese.
	for _, oneIn := range []int{0, 50} {
		for _, r := range all {
			if r.Confidence >= 25 && r.Confidence >= latin+5 {
				if name := canonicalCharset(r.Charset); fits(sample, name, oneIn) {
					return name
				}
			}
		}
	}
	return latin1Name
}

// fits reports whether a guess holds: it is a character set of the web, the bytes are plausible in
// it, and it is Japanese only where there is kana.
func fits(sample []byte, name string, oneIn int) bool {
	switch name {
	case "", "replacement", "utf-16le", "utf-16be":
		return false
	case utf8Name:
		return true
	}
	return plausible(sample, name, oneIn) && hasKana(sample, name) == (name == "euc-jp" || name == "shift_jis")
}

// hasKana says whether one in eight letters of a text is Japanese kana, if it is
// in the character set named. That tells Japanese from Chinese, whose sets use
// the same bytes.
func hasKana(sample []byte, name string) bool {
	out, _ := decoded(sample, name)
	kana, letters := 0, 0
	for _, r := range string(out) {
		if r >= 0x3041 && r <= 0x30ff {
			kana++
		}
		if r >= 0x80 {
			letters++
		}
	}
	return kana*8 > letters
}

// highText is the text of a page without its tags, as far as it helps to guess:
// the lines that have bytes over 127.
func highText(body []byte) []byte {
	out := make([]byte, 0, guessMost)
	for len(body) > 0 && len(out) < guessMost {
		end := bytes.IndexByte(body, '\n') + 1
		if end == 0 || end > 4096 {
			end = min(len(body), 4096)
		}
		line := body[:end]
		body = body[end:]
		if isASCII(line) {
			continue
		}
		inTag := false
		for _, c := range line {
			switch {
			case c == '<':
				inTag = true
			case c == '>':
				inTag = false
			case !inTag:
				out = append(out, c)
			}
		}
	}
	return out
}

// mostlyUTF8 says whether nine in ten of the sequences over 127 are UTF-8: a
// page cut within a letter, or with one bad quotation.
func mostlyUTF8(b []byte) bool {
	good, bad := 0, 0
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			bad++
		} else if n > 1 {
			good++
		}
		b = b[n:]
	}
	return good >= 9*bad
}

// isASCII reports whether all bytes are below 128.
func isASCII(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c >= 0x80 })
}

// hasJISEscapes knows the escape sequences with which ISO-2022-JP changes to
// Japanese letters.
func hasJISEscapes(b []byte) bool {
	return slices.ContainsFunc([]string{"\x1b$B", "\x1b$@", "\x1b$(D"}, func(esc string) bool {
		return bytes.Contains(b, []byte(esc))
	})
}
