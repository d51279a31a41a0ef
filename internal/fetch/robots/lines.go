package robots

import (
	"bytes"
	"strings"
	"unicode/utf16"
)

// MaxBytes is the size of the parsed part of a robots.txt, the least that RFC 9309 section 2.5
// requires. Later bytes and the line that crosses it are ignored.
const MaxBytes = 500 * 1024

// maxLine is the length at which a line is cut: that of the longest URL of browsers, with each
// octet percent-encoded.
const maxLine = 8 * 2083

type field int

const (
	fieldOther field = iota
	fieldAgent
	fieldAllow
	fieldDisallow
	fieldDelay
	fieldSitemap
)

// fieldNames are the names of records, with common misspellings of Disallow and User-agent.
var fieldNames = map[string]field{
	"user-agent": fieldAgent, "useragent": fieldAgent, "user agent": fieldAgent,
	"allow":    fieldAllow,
	"disallow": fieldDisallow, "dissallow": fieldDisallow, "dissalow": fieldDisallow,
	"disalow": fieldDisallow, "diasllow": fieldDisallow, "disallaw": fieldDisallow,
	"crawl-delay": fieldDelay, "crawldelay": fieldDelay,
	"sitemap": fieldSitemap, "site-map": fieldSitemap,
}

// Trim cuts a file at the last line end below MaxBytes if it is longer.
func Trim(body []byte) []byte {
	if len(body) <= MaxBytes {
		return body
	}
	body = body[:MaxBytes]
	return body[:bytes.LastIndexAny(body, "\r\n")+1]
}

// text returns the body as UTF-8 without byte order mark; "" if it is a web page.
func text(body []byte) string {
	body = Trim(body)
	switch {
	case bytes.HasPrefix(body, []byte{0xFE, 0xFF}):
		body = fromUTF16(body[2:], 1, 0)
	case bytes.HasPrefix(body, []byte{0xFF, 0xFE}):
		body = fromUTF16(body[2:], 0, 1)
	default:
		// An incomplete mark is not part of the first name either.
		for _, b := range []byte{0xEF, 0xBB, 0xBF} {
			if len(body) == 0 || body[0] != b {
				break
			}
			body = body[1:]
		}
	}
	if isMarkup(body) {
		return ""
	}
	return string(body)
}

func fromUTF16(b []byte, low, high int) []byte {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = uint16(b[2*i+low]) | uint16(b[2*i+high])<<8
	}
	return []byte(string(utf16.Decode(units)))
}

// isMarkup reports an HTML or XML document: some servers answer "not found" with it and status
// 200.
func isMarkup(b []byte) bool {
	b = bytes.TrimLeft(b, " \t\r\n\f\v")
	if len(b) < 2 || b[0] != '<' {
		return false
	}
	c := b[1] | 0x20
	return b[1] == '!' || b[1] == '?' || (c >= 'a' && c <= 'z')
}

// nextLine splits s after its first line, which ends in CR, LF or CRLF.
func nextLine(s string) (line, rest string) {
	i := strings.IndexAny(s, "\r\n")
	if i < 0 {
		return s, ""
	}
	line, rest = s[:i], s[i+1:]
	if s[i] == '\r' && strings.HasPrefix(rest, "\n") {
		rest = rest[1:]
	}
	return line, rest
}

// parseLine splits a line into field and value. A line of two words may lack the colon ("disallow
// /").
func parseLine(line string) (field, string) {
	if len(line) > maxLine {
		line = line[:maxLine]
	}
	line, _, _ = strings.Cut(line, "#")
	line = strings.TrimSpace(strings.ReplaceAll(line, "\x00", ""))
	name, value, ok := strings.Cut(line, ":")
	if !ok {
		words := strings.Fields(line)
		if len(words) != 2 {
			return fieldOther, ""
		}
		name, value = words[0], words[1]
	}
	return fieldNames[strings.ToLower(strings.TrimSpace(name))], strings.TrimSpace(value)
}

// productToken returns the token at the start of a User-agent value in lower case (RFC 9309
// section 2.2.1: letters, "_" and "-"), "*" for all agents, or "". It ignores a version or a
// second word.
func productToken(value string) string {
	if value == "*" || strings.HasPrefix(value, "* ") || strings.HasPrefix(value, "*\t") {
		return "*"
	}
	end := 0
	for end < len(value) && isTokenByte(value[end]) {
		end++
	}
	return strings.ToLower(value[:end])
}

func isTokenByte(c byte) bool {
	return c == '-' || c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
