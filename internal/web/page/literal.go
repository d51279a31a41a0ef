package page

import (
	"bytes"
	"encoding/json"
	"strings"
)

// slash skips a comment or a regular expression, whose quotes are none.
func (r *stateReader) slash() {
	rest := r.src[r.at:]
	end := -1
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		end = bytes.IndexByte(rest, '\n')
	case bytes.HasPrefix(rest, []byte("/*")):
		if end = bytes.Index(rest[2:], []byte("*/")); end >= 0 {
			end += len("/**/")
		}
	default:
		r.at++
		if r.at > r.noRegex && strings.IndexByte("(,=:[!&|?{};\n", r.last) >= 0 {
			r.regex()
		}
		return
	}
	if end < 0 {
		end = len(rest)
	}
	r.at += end
}

// regex skips a regular expression behind its first slash, if it ends in its line.
func (r *stateReader) regex() {
	class := false
	for i := r.at; i < len(r.src); i++ {
		switch c := r.src[i]; {
		case c == '\n':
			r.noRegex = i
			return
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			r.at = i + 1
			return
		}
	}
	r.noRegex = len(r.src)
}

// literal reads the string that begins here, and decodes it. One in plain quotes ends
// with its line at the latest.
func (r *stateReader) literal() string {
	quote, from, escaped := r.src[r.at], r.at+1, false
	for r.at++; r.at < len(r.src); r.at++ {
		switch c := r.src[r.at]; {
		case c == '\\':
			escaped = true
			r.at++
		case c == quote || c == '\n' && quote != '`':
			s := r.src[from:r.at]
			r.at++
			if escaped {
				return unescaped(string(s))
			}
			return string(s)
		}
	}
	return ""
}

// asJSON writes the escapes of JavaScript as those of JSON.
var asJSON = strings.NewReplacer(
	`\\`, `\\`, `\"`, `\"`, `"`, `\"`, `\'`, `'`, "\\`", "`", `\x`, `\u00`, "\\\n", " ", "\n", " ", "\t", " ")

// unescaped decodes a literal; what has other escapes loses their signs.
func unescaped(s string) (out string) {
	if json.Unmarshal([]byte(`"`+asJSON.Replace(s)+`"`), &out) != nil {
		return strings.ReplaceAll(s, `\`, "")
	}
	return out
}
