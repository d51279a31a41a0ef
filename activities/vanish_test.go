package activities_test

import (
	"net/url"
	"path"
	"testing"

	"github.com/stretchr/testify/require"
)

// redirecting is a paper that is linked by an address that redirects to its
// file, as a content management system does.
type redirecting struct{ link, file, digest string }

// storedPrefix begins the names of such files.
const storedPrefix = "stored-"

// redirects makes n papers redirecting ones.
func (l *library) redirects(t *testing.T, n int) (out []redirecting) {
	t.Helper()
	for _, p := range l.sample.Truth().Papers {
		if len(out) == n {
			break
		}
		if len(p.URLs) != 1 || path.Ext(p.URLs[0]) != ".pdf" {
			continue
		}
		u, err := url.Parse(p.URLs[0])
		require.NoError(t, err)
		body := l.web.get(t, p.URLs[0])
		r := redirecting{link: p.URLs[0], file: u.ResolveReference(&url.URL{Path: storedPrefix + path.Base(u.Path)}).String(), digest: sha(body)}
		l.web.set(r.file, "application/pdf", body)
		l.web.set(r.link, movedKind, []byte(r.file))
		out = append(out, r)
	}
	require.Len(t, out, n)
	return out
}

// vanish changes where four papers are that were found by links which redirect. check
// asserts what a harvest after that finds.
func (l *library) vanish(t *testing.T) (check func()) {
	t.Helper()
	var known []redirecting
	for _, r := range l.moved {
		if (l.at(t, r.file, r.digest) == place{known: true, current: true}) {
			known = append(known, r)
		}
	}
	require.GreaterOrEqual(t, len(known), 4, "too few were found")
	vanished, unlinked, replaced, same := known[0], known[1], known[2], known[3]
	l.web.set(vanished.link, "", nil)
	l.web.set(vanished.file, "", nil)
	l.web.set(unlinked.link, "", nil)
	second := replaced.file + "-2.pdf"
	revised := paperPDF(t, "On something else entirely", []string{"Nobody"}, 3)
	l.web.set(second, "application/pdf", revised)
	l.web.set(replaced.link, movedKind, []byte(second))
	l.web.set(replaced.file, "", nil)
	return func() {
		require.Equal(t, place{known: true, gone: true}, l.at(t, vanished.file, vanished.digest), "link and file are gone")
		require.Equal(t, place{known: true, current: true}, l.at(t, unlinked.file, unlinked.digest), "the file is still there")
		require.Equal(t, place{known: true, gone: true}, l.at(t, replaced.file, replaced.digest), "the link leads to another file")
		require.Equal(t, place{known: true, current: true}, l.at(t, second, sha(revised)))
		require.Equal(t, place{known: true, current: true}, l.at(t, same.file, same.digest))
	}
}
