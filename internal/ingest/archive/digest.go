package archive

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
)

// sum is the digest of what is read, and the one that is recorded of it.
type sum struct {
	hash.Hash
	want []byte
}

// newSum begins a digest such as "sha1:…", in base 32 or 16; nil where it is none.
func newSum(said string) *sum {
	name, text, _ := strings.Cut(said, ":")
	begin := map[string]func() hash.Hash{"sha1": sha1.New, "sha256": sha256.New, "sha512": sha512.New, "md5": md5.New}
	h, known := begin[strings.ReplaceAll(strings.ToLower(name), "-", "")]
	if !known {
		return nil
	}
	s := &sum{Hash: h()}
	if s.want = digestBytes(text, s.Size()); s.want == nil {
		return nil
	}
	return s
}

// digestBytes reads a digest of a size; nil where it is none.
func digestBytes(text string, size int) []byte {
	text = strings.TrimSpace(text)
	if raw, err := hex.DecodeString(text); err == nil && len(raw) == size {
		return raw
	}
	raw, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.TrimRight(strings.ToUpper(text), "="))
	if err != nil || len(raw) != size {
		return nil
	}
	return raw
}

// SHA1 is the SHA-1 that a field carries; nil where it carries another digest or none.
func SHA1(said string) []byte {
	if s := newSum(said); s != nil && s.Size() == sha1.Size {
		return s.want
	}
	return nil
}

func (s *sum) add(b []byte) {
	if s != nil {
		_, _ = s.Write(b)
	}
}

// right reports whether what was added has the digest.
func (s *sum) right() bool { return bytes.Equal(s.Sum(nil), s.want) }

// check returns ErrDigest if it has not.
func (s *sum) check(field string) error {
	if s == nil || s.right() {
		return nil
	}
	return fmt.Errorf("%w (%s)", ErrDigest, field)
}
