package rank

import "strings"

// address holds the parts of a URL.
type address struct {
	host, dir, name, stem, ext, query string
}

func splitAddress(raw string) address {
	var a address
	_, rest, ok := strings.Cut(raw, "://")
	if !ok {
		rest = raw
	}
	slash := strings.IndexByte(rest, '/')
	if slash < 0 {
		a.host, a.dir = rest, "/"
		return a
	}
	a.host, rest = rest[:slash], rest[slash:]
	if q := strings.IndexByte(rest, '?'); q >= 0 {
		rest, a.query = rest[:q], rest[q+1:]
	}
	cut := strings.LastIndexByte(rest, '/') + 1
	a.dir, a.name = rest[:cut], rest[cut:]
	a.stem = a.name
	if dot := strings.IndexByte(a.name, '.'); dot > 0 {
		last := strings.LastIndexByte(a.name, '.')
		if tail := strings.ToLower(a.name[last+1:]); tail == "gz" || tail == "z" {
			if inner := strings.LastIndexByte(a.name[:last], '.'); inner > 0 {
				last = inner
			}
		}
		if len(a.name)-last <= 8 {
			a.stem, a.ext = a.name[:last], strings.ToLower(a.name[last+1:])
		}
	}
	return a
}

// label returns the file name of a page's address, or its last directory if it has no file name.
func (a address) label() (name, dirs string) {
	if a.name != "" {
		return a.stem, a.dir
	}
	d := strings.TrimSuffix(a.dir, "/")
	cut := strings.LastIndexByte(d, '/') + 1
	return d[cut:], d[:cut]
}

// patterns is the number of buckets for patterns of addresses.
const patterns = 1 << 11

// patternOf returns the bucket of an address with its numbers folded: pages numbered by a program
// share one pattern.
func patternOf(raw string) uint16 {
	h := foldedHash(hashSeed, raw)
	h ^= h >> 13
	return uint16(h & (patterns - 1))
}

// foldedHash continues the hash h with the bytes of s, with numbers folded.
func foldedHash(h uint32, s string) uint32 {
	digits := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= '0' && c <= '9' {
			if digits {
				continue
			}
			c, digits = '0', true
		} else {
			digits = false
		}
		h = (h ^ uint32(lower(c))) * hashPrime
	}
	return h
}

// shapeOf returns the pattern of a name: a run of digits becomes 0, a word of more than two
// letters becomes a.
func shapeOf(name string) string {
	var buf [48]byte
	b := buf[:0]
	for i := 0; i < len(name) && len(b) < 40; {
		c := lower(name[i])
		switch {
		case isWordByte(c):
			j := i
			for j < len(name) && isWordByte(lower(name[j])) {
				j++
			}
			if j-i <= 2 {
				b = append(b, strings.ToLower(name[i:j])...)
			} else {
				b = append(b, 'a')
			}
			i = j
		case c >= '0' && c <= '9':
			for i < len(name) && name[i] >= '0' && name[i] <= '9' {
				i++
			}
			b = append(b, '0')
		default:
			b = append(b, c)
			i++
		}
	}
	return string(b)
}

// eachWord calls f with the first n words of s in lower case, without words of one letter.
func eachWord(s string, n int, f func(string)) {
	var buf [32]byte
	b := buf[:0]
	flush := func() {
		if len(b) > 1 && n > 0 {
			f(string(b))
			n--
		}
		b = b[:0]
	}
	small := false
	for i := 0; i < len(s) && n > 0; i++ {
		c := s[i]
		l := lower(c)
		if !isWordByte(l) || small && c != l {
			flush()
		}
		small = isWordByte(l) && c == l
		if isWordByte(l) && len(b) < len(buf) {
			b = append(b, l)
		}
	}
	flush()
}

// hasYear reports whether s has a year from 1950 to 2049 that is not part of a longer number.
func hasYear(s string) bool {
	digits := 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && s[i] >= '0' && s[i] <= '9' {
			digits++
			continue
		}
		if digits == 4 {
			y := s[i-4 : i]
			if y >= "1950" && y <= "2049" {
				return true
			}
		}
		digits = 0
	}
	return false
}
