package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
)

// sftpTree is a folder or a file of an SFTP server, over one connection.
type sftpTree struct {
	ctx    context.Context // of the connections
	ask    Asker
	at     server
	logins Logins
	root   string // as the server spells it: no name leads out of it
	file   bool   // the root is one
	conn   *sftpSession
}

// sftpSession is a connection to an SFTP server.
type sftpSession struct {
	*sftp.Client
	ssh     *ssh.Client
	stop    func() bool
	left    atomic.Int64 // bytes that a listing may have yet; negative where nothing is listed
	endless atomic.Bool  // it had more
}

func openSFTP(ctx context.Context, ask Asker, at server, logins Logins) (Place, error) {
	if at.user == "" {
		return nil, fmt.Errorf("%w: sftp://%s names no user: sftp://USER@%s%s", ErrRefused, at.host, at.host, at.root)
	}
	t := &sftpTree{ctx: ctx, ask: ask, at: at, logins: logins}
	s, err := t.session()
	if err != nil {
		return nil, err
	}
	var info os.FileInfo
	err = s.timed(func() (err error) {
		if t.root, err = s.RealPath(at.root); err == nil {
			info, err = s.Client.Stat(t.root)
		}
		return err
	})
	if err != nil {
		_ = t.Close()
		return nil, missing(at.root, t.typed(err))
	}
	t.file = !info.IsDir()
	return t, nil
}

// session gives a connection that stands.
func (t *sftpTree) session() (*sftpSession, error) {
	if t.conn != nil {
		return t.conn, nil
	}
	config, err := clientConfig(t.at, t.logins)
	if err != nil {
		return nil, err
	}
	if config.agent != nil {
		defer func() { _ = config.agent.Close() }()
	}
	conn, err := t.ask.Dial(t.ctx, t.at.host, t.at.port, t.at.own)
	if err != nil {
		return nil, t.typed(err)
	}
	_ = conn.SetDeadline(time.Now().Add(serverIdle))
	c, channels, requests, err := ssh.NewClientConn(conn, t.at.address(), &config.ClientConfig)
	if err != nil {
		_ = conn.Close()
		return nil, t.typed(err)
	}
	_ = conn.SetDeadline(time.Time{})
	s := &sftpSession{ssh: ssh.NewClient(c, channels, requests)}
	s.left.Store(-1)
	s.stop = context.AfterFunc(t.ctx, func() { _ = conn.Close() })
	if err := s.begin(); err != nil {
		s.end()
		return nil, t.typed(err)
	}
	t.conn = s
	return s, nil
}

// begin asks for the subsystem that has files.
func (s *sftpSession) begin() error {
	return s.timed(func() error {
		session, err := s.ssh.NewSession()
		if err != nil {
			return err
		}
		in, err := session.StdinPipe()
		if err != nil {
			return err
		}
		out, err := session.StdoutPipe()
		if err != nil {
			return err
		}
		if err := session.RequestSubsystem("sftp"); err != nil {
			return err
		}
		s.Client, err = sftp.NewClientPipe(metered{out, s}, in)
		return err
	})
}

// metered is what a server sends, where no listing is without an end.
type metered struct {
	io.Reader
	of *sftpSession
}

func (m metered) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if m.of.left.Load() >= 0 && m.of.left.Add(-int64(n)) < 0 {
		m.of.endless.Store(true)
		return 0, errEndless
	}
	return n, err
}

// timed does what a server may leave without an answer: then the connection ends.
func (s *sftpSession) timed(do func() error) error {
	late := time.AfterFunc(serverIdle, func() { _ = s.ssh.Close() })
	defer late.Stop()
	return do()
}

func (s *sftpSession) end() {
	s.stop()
	_ = s.ssh.Close()
	if s.Client != nil {
		_ = s.Client.Close()
	}
}

// drop ends a connection over which something went wrong that is not the server's
// answer.
func (t *sftpTree) drop(s *sftpSession, err error) {
	var said *sftp.StatusError
	if t.conn != s || errors.As(err, &said) || errors.Is(err, fs.ErrPermission) || ofFile(err) {
		return
	}
	s.end()
	t.conn = nil
}

// ofFile says that an error is of one file, over a connection that stands.
func ofFile(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrOutside) || errors.Is(err, ErrNoFile)
}

// do does something by a connection that stands.
func (t *sftpTree) do(what func(s *sftpSession) error) error {
	s, err := t.session()
	if err != nil {
		return err
	}
	if err = s.timed(func() error { return what(s) }); err == nil {
		return nil
	}
	t.drop(s, err)
	if s.endless.Load() {
		return errEndless
	}
	return t.typed(err)
}

// Close implements Place.
func (t *sftpTree) Close() error {
	if t.conn != nil {
		t.conn.end()
		t.conn = nil
	}
	return nil
}

// List implements Place.
func (t *sftpTree) List(ctx context.Context, from string) iter.Seq2[File, error] {
	if t.file {
		return alone(ctx, t)
	}
	return allBelow(ctx, t.entries, from)
}

// entries lists a folder.
func (t *sftpTree) entries(ctx context.Context, dir string) (all []entry, err error) {
	var found []os.FileInfo
	err = t.do(func(s *sftpSession) (err error) {
		s.left.Store(listingBytes)
		found, err = s.ReadDirContext(ctx, path.Join(t.root, dir))
		s.left.Store(-1)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, info := range found {
		one, err := describedFile(info.Name(), info), error(nil)
		if info.Mode().Type() == fs.ModeSymlink {
			if one, err = t.Stat(ctx, path.Join(dir, info.Name())); errors.Is(err, ErrAway) || errors.Is(err, ErrRefused) {
				return nil, err
			}
			one.Name, one.Err = info.Name(), err
		}
		all = append(all, entry{one, info.IsDir()})
	}
	return all, nil
}

// describedFile is what a server says of a file.
func describedFile(name string, info os.FileInfo) File {
	one := File{Name: name, Size: info.Size(), Modified: info.ModTime()}
	one.Version = version(one.Size, one.Modified)
	if !info.Mode().IsRegular() {
		one.Err = ErrNoFile
	}
	return one
}

// Stat implements Place. A link is followed to a file below the root.
func (t *sftpTree) Stat(_ context.Context, name string) (one File, err error) {
	_, info, err := t.find(name)
	if err != nil {
		return File{Name: name}, err
	}
	one = describedFile(name, info)
	return one, one.Err
}

// mostLinks is how many links lead to a file at most.
const mostLinks = 16

// find gives the path at which a name's file lies, links followed, and what the server
// says of it.
func (t *sftpTree) find(name string) (at string, info os.FileInfo, err error) {
	if name != "" && !local(name) {
		return "", nil, ErrOutside
	}
	at = path.Join(t.root, name)
	err = t.do(func(s *sftpSession) (err error) {
		for range mostLinks {
			if info, err = s.Lstat(at); err != nil || info.Mode().Type() != fs.ModeSymlink {
				return err
			}
			if at, err = t.follow(s, at); err != nil {
				return err
			}
		}
		return fmt.Errorf("%w: links lead to links", ErrNoFile)
	})
	return at, info, err
}

// follow gives where a link leads: below the root, by no folder that is a link itself.
func (t *sftpTree) follow(s *sftpSession, link string) (string, error) {
	to, err := s.ReadLink(link)
	if err != nil {
		return "", err
	}
	if !path.IsAbs(to) {
		to = path.Join(path.Dir(link), to)
	}
	to = path.Clean(to)
	if !below(t.root, to) {
		return "", fmt.Errorf("%w: %s", ErrOutside, link)
	}
	for dir := path.Dir(to); below(t.root, dir) && dir != t.root; dir = path.Dir(dir) {
		info, err := s.Lstat(dir)
		if err != nil {
			return "", err
		}
		if !info.IsDir() {
			return "", fmt.Errorf("%w: %s", ErrOutside, link)
		}
	}
	return to, nil
}

// below reports whether a path is a folder or in it.
func below(root, at string) bool {
	return at == root || strings.HasPrefix(at, strings.TrimSuffix(root, "/")+"/")
}

// Open implements Place. What is cut off on its way is asked for again from there on.
func (t *sftpTree) Open(_ context.Context, name string, offset int64) (io.ReadCloser, error) {
	where, info, err := t.find(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, ErrNoFile
	}
	return resume(offset, info.Size(), func(at int64) (io.ReadCloser, error) { return t.remote(where, at) })
}

// remote is a file from a byte on.
func (t *sftpTree) remote(where string, at int64) (io.ReadCloser, error) {
	f := &remoteFile{of: t}
	err := t.do(func(s *sftpSession) (err error) {
		f.session = s
		if f.File, err = s.Client.Open(where); err == nil {
			_, err = f.File.Seek(at, io.SeekStart)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// remoteFile is a file on its way.
type remoteFile struct {
	*sftp.File
	of      *sftpTree
	session *sftpSession
}

// Read implements io.Reader.
func (f *remoteFile) Read(p []byte) (n int, err error) {
	err = f.session.timed(func() (err error) {
		n, err = f.File.Read(p)
		return err
	})
	if err != nil && !errors.Is(err, io.EOF) {
		f.of.drop(f.session, err)
	}
	if errors.Is(err, io.EOF) && f.of.conn != f.session {
		err = io.ErrUnexpectedEOF // of the connection, and not of the file
	}
	return n, err
}

// Close implements io.Closer.
func (f *remoteFile) Close() error {
	return f.session.timed(f.File.Close)
}

// typed says of an error whether a file is not there, or not to be had, or nothing is
// known.
func (t *sftpTree) typed(err error) error {
	var said *sftp.StatusError
	switch {
	case errors.Is(err, ErrRefused), errors.Is(err, ErrAway), errors.Is(err, ErrEndless), ofFile(err):
		return err
	case errors.Is(err, fs.ErrPermission), errors.As(err, &said):
		return fmt.Errorf("%w: %s: %w", fs.ErrPermission, t.at.host, err)
	case strings.Contains(err.Error(), "unable to authenticate"): // it has no type
		return fmt.Errorf("%w: %s does not let %s in: %w", ErrRefused, t.at.host, t.at.user, err)
	}
	return unanswered(t.at.host, err)
}
