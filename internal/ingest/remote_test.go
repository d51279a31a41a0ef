package ingest

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"gleaner/internal/ingest/source"
)

// sameTree holds what is read of a server to what is read of the folder that it serves,
// as archives, as a folder and as a mirror, from each resource on.
func (s *shop) sameTree(places source.Places, base, dir string, cut *atomic.Int32) {
	t := s.t.(*testing.T)
	for _, o := range []Options{{}, {Format: Folder, URLs: "https://a.example/tr/{path}", Parent: "https://a.example/tr/", Date: "2005-06-30"}, {Format: Mirror}} {
		o.Paths = []string{dir}
		want, wantBodies := read(t, o, Position{})
		require.NotEmpty(t, want)
		o.Paths = []string{base}
		cut.Store(1)
		got, bodies := from(t, places, o, Position{})
		require.LessOrEqual(t, cut.Load(), int32(0), "nothing was cut off")
		require.Equal(t, urlsOf(want), urlsOf(got))
		for url, body := range wantBodies {
			require.True(t, body == bodies[url], url)
		}
		for i, r := range got {
			require.Equal(t, want[i].At.Position, r.At.Position)
			require.Equal(t, want[i].Parent, r.Parent)
			if o.Format == Folder {
				require.Equal(t, "2005-06-30", r.Crawled.Format(time.DateOnly))
			}
			rest, _ := from(t, places, o, r.At)
			require.Equal(t, urlsOf(got[i:]), urlsOf(rest))
		}
	}
}

// tree is a folder of archives and files, in folders.
func (s *shop) tree() string {
	return s.lay("served", map[string]string{"2005/a.warc.gz": string(s.crawl()), "b.warc.gz": string(answer("http://b.example/7.pdf", "", s.pdf(7))),
		"www.a.example/index.html": "<html>a page", "www.a.example/papers/1 b.pdf": s.pdf(1), "www.a.example/papers.pdf": s.pdf(2)})
}

// TestFTP: a folder of an FTP server is read as one of this machine is, what is cut off
// is asked for again from there on, and what is wrong with a server is said at once.
func TestFTP(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	d := &disk{root: s.tree()}
	base := "ftp://" + d.ftp(t)
	places := source.Places{Asker: asker(t, nil)}
	s.sameTree(places, base, d.root, &d.cut)
	one, _ := from(t, places, Options{Paths: []string{base + "/2005/a.warc.gz"}}, Position{})
	require.Len(t, one, 13)
	s.Places = places
	c, by := s.imported(Options{Paths: []string{base + "/www.a.example"}, Format: Folder, URLs: "https://a.example/{path}"})
	require.Equal(t, 2, c.SavedNew, "%v", by)
	require.NotContains(t, by["https://a.example/papers.pdf"].Source, "anonymous")
	c, by = s.imported(Options{Paths: []string{base + "/www.a.example", base + "/www.a.example/papers.pdf"}, Format: FTP, Parent: "http://www.a.example/tr/", Date: "2005-06-30"})
	require.Equal(t, 1, c.SavedDuplicate, "the file that is named, too: %v", by)
	got := by["http://127.0.0.1/www.a.example/papers/1%20b.pdf"]
	require.Equal(t, SavedNew, got.Outcome, "it has the address of that path on a web server: %v", by)
	require.Equal(t, "http://www.a.example/tr/", got.Parent)
	require.Equal(t, "2005-06-30", got.Crawled.UTC().Format(time.DateOnly))

	s.refuses(places, strings.Replace(base, "//", "//ada@", 1), "GLEANER_IMPORT_PASSWORD")
	places.Logins.Password = "wrong"
	before := d.logins.Load()
	s.refuses(places, strings.Replace(base, "//", "//ada@", 1), "does not let ada in")
	require.Equal(t, before+1, d.logins.Load(), "tried once")
	places.Logins.Password = password
	one, _ = from(t, places, Options{Paths: []string{strings.Replace(base, "//", "//ada@", 1)}}, Position{})
	require.NotEmpty(t, one)
	before = d.logins.Load()
	places.Logins.Password = "machine other.example login ada password \"" + password + "\""
	s.refuses(places, strings.Replace(base, "//", "//ada@", 1), "GLEANER_IMPORT_PASSWORD")
	require.Equal(t, before, d.logins.Load(), "another server's is not told")
	places.Logins.Password += "\nmachine 127.0.0.1\n\tlogin ada\n\tpassword \"" + password + "\""
	one, _ = from(t, places, Options{Paths: []string{strings.Replace(base, "//", "//ada@", 1)}}, Position{})
	require.NotEmpty(t, one)
	_, err := Open(t.Context(), places, Options{Paths: []string{base + "/gone"}}, Position{})
	require.ErrorIs(t, err, ErrInput)
	s.lies(places, d, base)
}

// TestFTPAnswersHaveAnEnd: of an answer to a command that never ends, no more is held
// than answers have.
func TestFTPAnswersHaveAnEnd(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	told := make(chan int, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		n := 0
		for line := []byte(strings.Repeat("220-welcome\r\n", 1000)); err == nil && n < 64<<20; n += len(line) {
			_, err = conn.Write(line)
		}
		told <- n
	}()
	_, err = source.Places{Asker: asker(t, nil)}.Open(t.Context(), "ftp://"+l.Addr().String()+"/", true)
	require.ErrorIs(t, err, source.ErrEndless)
	require.Less(t, <-told, 64<<20)
}

// refuses holds a place to be refused at once, with a reason.
func (s *shop) refuses(places source.Places, path, says string) {
	s.t.Helper()
	_, err := Open(s.t.(*testing.T).Context(), places, Options{Paths: []string{path}}, Position{})
	require.ErrorIs(s.t, err, source.ErrRefused)
	require.ErrorContains(s.t, err, says)
	require.NotContains(s.t, err.Error(), password)
}

// lies holds a server that lies about sizes, or lists without an end, to a named end.
func (s *shop) lies(places source.Places, d *disk, base string) {
	t := s.t.(*testing.T)
	d.lie = 100
	all, _ := from(t, places, Options{Paths: []string{base + "/b.warc.gz"}}, Position{})
	require.Equal(t, "http://b.example/7.pdf", all[0].URL)
	require.Equal(t, Damaged, all[len(all)-1].Skip, "it ends before its size")
	d.lie, d.deep = 0, true
	all, _ = from(t, places, Options{Paths: []string{base}, Format: Folder, URLs: "https://a.example/{path}"}, Position{})
	require.Len(t, all, 1)
	require.Equal(t, NoFile, all[0].Skip)
	d.deep, d.endless = false, true
	_, err := Open(t.Context(), places, Options{Paths: []string{base}}, Position{})
	require.ErrorIs(t, err, ErrInput)
	require.ErrorIs(t, err, source.ErrEndless)
}

// TestSFTP: a folder of an SFTP server is read as one of this machine is, links
// included, and a connection that is cut is made again.
func TestSFTP(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	d := &disk{root: s.tree()}
	srv := d.sftp(t)
	places := source.Places{Asker: asker(t, nil), Logins: source.Logins{Password: password, KnownHosts: srv.known}}
	base := "sftp://ada@" + srv.address
	s.sameTree(places, base+d.root, d.root, &d.cut)

	secret := s.write("secret.pdf", []byte(s.pdf(5)))
	links := s.lay("links", map[string]string{"1.pdf": s.pdf(1)})
	require.NoError(t, os.Symlink("1.pdf", filepath.Join(links, "same.pdf")))
	require.NoError(t, os.Symlink(secret, filepath.Join(links, "out.pdf")))
	require.NoError(t, os.Symlink(".", filepath.Join(links, "loop")))
	s.Places = places
	c, by := s.imported(Options{Paths: []string{base + links}, Format: Folder, URLs: "https://a.example/{path}"})
	require.Equal(t, SavedNew, by["https://a.example/same.pdf"].Outcome)
	require.Equal(t, map[string]int64{Outside: 1, NoFile: 1}, c.Skipped)
	_, err := Open(t.Context(), places, Options{Paths: []string{base + "/no/such/folder"}}, Position{})
	require.ErrorIs(t, err, ErrInput)

	liar := (&disk{root: d.root}).sftp(t)
	liar.lie = 100 // so that handlers serve it
	places.Logins.KnownHosts = liar.known
	s.lies(places, liar.disk, "sftp://ada@"+liar.address)
}

// TestSFTPLogin: nobody is told a password whose host key is not known, and who is not
// let in is told so once.
func TestSFTPLogin(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	srv := (&disk{root: s.tree()}).sftp(t)
	base := "sftp://ada@" + srv.address + srv.root
	login := source.Logins{Password: password, KnownHosts: srv.known}
	places := func(change func(*source.Logins)) source.Places {
		l := login
		change(&l)
		return source.Places{Asker: asker(t, nil), Logins: l}
	}
	s.refuses(places(func(l *source.Logins) { l.KnownHosts = "" }), base, "sftp.known-hosts")
	empty := s.write("nobody", nil)
	s.refuses(places(func(l *source.Logins) { l.KnownHosts = empty }), base, "SHA256:")
	right, err := os.ReadFile(srv.known)
	require.NoError(t, err)
	srv.knows(t, newKey(t).PublicKey())
	s.refuses(places(func(*source.Logins) {}), base, "another than")
	require.Zero(t, srv.logins.Load(), "no password was told")
	require.NoError(t, os.WriteFile(srv.known, right, 0o600))
	s.refuses(places(func(l *source.Logins) { l.Password = "" }), base, "nothing is set")
	s.refuses(places(func(*source.Logins) {}), strings.Replace(base, "ada@", "", 1), "names no user")
	s.refuses(places(func(l *source.Logins) { l.Password = "wrong" }), base, "does not let ada in")
	require.EqualValues(t, 1, srv.logins.Load(), "tried once")
	_, err = Open(t.Context(), places(func(*source.Logins) {}), Options{Paths: []string{strings.Replace(base, "ada@", "ada:"+password+"@", 1)}}, Position{})
	require.ErrorIs(t, err, ErrInput)
	require.NotContains(t, err.Error(), password)

	_, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	signer, err := ssh.NewSignerFromKey(private)
	require.NoError(t, err)
	srv.config.PublicKeyCallback = func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if string(key.Marshal()) != string(signer.PublicKey().Marshal()) {
			return nil, errors.New("no")
		}
		return nil, nil
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	require.NoError(t, err)
	file := s.write("id_ed25519", pem.EncodeToMemory(block))
	all, _ := from(t, places(func(l *source.Logins) { l.Password, l.Identity = "", file }), Options{Paths: []string{base}}, Position{})
	require.NotEmpty(t, all)
	locked, err := ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte("x"))
	require.NoError(t, err)
	file = s.write("id_locked", pem.EncodeToMemory(locked))
	s.refuses(places(func(l *source.Logins) { l.Password, l.Identity = "", file }), base, "passphrase")
	all, _ = from(t, places(func(l *source.Logins) { l.Password, l.Agent = "", agentOf(t, private) }), Options{Paths: []string{base}}, Position{})
	require.NotEmpty(t, all)
}
