package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net"
	"net/textproto"
	"path"
	"time"

	"github.com/jlaffaye/ftp"
)

// ftpTree is a folder or a file of an FTP server. It keeps one connection for what is
// read after each other; a file that is opened while another is read has its own.
type ftpTree struct {
	ctx      context.Context // of the connections
	ask      Asker
	at       server
	password string
	idle     *ftpSession // nil for none
	file     bool        // the root is one
}

// ftpSession is a connection to an FTP server.
type ftpSession struct {
	*ftp.ServerConn
	control net.Conn
	left    int64 // bytes that a listing may have yet; negative where nothing is listed
	endless bool  // it had more
}

// openFTP connects to a server: as the user of the address, with the password of the
// settings, or as nobody.
func openFTP(ctx context.Context, ask Asker, at server, logins Logins) (Place, error) {
	f := &ftpTree{ctx: ctx, ask: ask, at: at, password: logins.PasswordOf(at.host, at.user)}
	if at.user == "" {
		f.at.user, f.password = "anonymous", "anonymous"
	} else if f.password == "" {
		return nil, fmt.Errorf("%w: %s wants a password for %s: set GLEANER_IMPORT_PASSWORD where the worker runs", ErrRefused, at.host, at.user)
	}
	s, err := f.session()
	if err != nil {
		return nil, err
	}
	if s.ChangeDir(f.at.root) == nil {
		f.idle = s
		return f, nil
	}
	f.file = true
	f.idle = s
	if _, err := f.Stat(ctx, ""); err != nil {
		_ = f.Close()
		return nil, missing(f.at.root, err)
	}
	return f, nil
}

// session gives a connection that nothing is read from.
func (f *ftpTree) session() (*ftpSession, error) {
	if s := f.idle; s != nil {
		f.idle = nil
		if s.NoOp() == nil {
			return s, nil
		}
		s.end()
	}
	s := &ftpSession{left: -1}
	var err error
	s.ServerConn, err = ftp.Dial(f.at.host, ftp.DialWithDialFunc(func(_, address string) (net.Conn, error) { return s.dial(f, address) }), ftp.DialWithShutTimeout(serverIdle))
	if err != nil {
		return nil, f.typed(err)
	}
	if err := s.Login(f.at.user, f.password); err != nil {
		s.end()
		return nil, f.refused(err)
	}
	return s, nil
}

// dial connects for commands, and then for what they bring.
func (s *ftpSession) dial(f *ftpTree, address string) (net.Conn, error) {
	if s.control != nil {
		conn, err := f.ask.DialBeside(f.ctx, address)
		if err != nil {
			return nil, err
		}
		return lively(f.ctx, conn, s), nil
	}
	conn, err := f.ask.Dial(f.ctx, f.at.host, f.at.port, f.at.own)
	if err != nil {
		return nil, err
	}
	s.control = lively(f.ctx, conn, nil)
	return s.control, nil
}

// end closes a connection without another word: what it says now is not waited for.
func (s *ftpSession) end() { _ = s.control.Close() }

// livelyConn is a connection on which nothing stands still for long, and no listing or
// answer to a command is without an end.
type livelyConn struct {
	net.Conn
	of   *ftpSession // whose listings it brings; nil of the one for commands
	said int         // bytes of an answer to a command
	stop func() bool
}

// answerBytes is the most of an answer to a command: the library holds all of it.
const answerBytes = 1 << 20

func lively(ctx context.Context, conn net.Conn, of *ftpSession) *livelyConn {
	return &livelyConn{Conn: conn, of: of, stop: context.AfterFunc(ctx, func() { _ = conn.Close() })}
}

// errEndless is a listing without an end.
var errEndless = fmt.Errorf("%w: one folder has more than %d bytes", ErrEndless, listingBytes)

func (c *livelyConn) Read(p []byte) (int, error) {
	_ = c.SetReadDeadline(time.Now().Add(serverIdle))
	n, err := c.Conn.Read(p)
	if c.of == nil {
		if c.said += n; c.said > answerBytes {
			return 0, fmt.Errorf("%w: one answer has more than %d bytes", ErrEndless, answerBytes)
		}
		return n, err
	}
	if c.of.left < 0 {
		return n, err
	}
	if c.of.left -= int64(n); c.of.left < 0 {
		c.of.endless = true
		return 0, errEndless
	}
	return n, err
}

func (c *livelyConn) Write(p []byte) (int, error) {
	c.said = 0
	_ = c.SetWriteDeadline(time.Now().Add(serverIdle))
	return c.Conn.Write(p)
}

func (c *livelyConn) Close() error {
	c.stop()
	return c.Conn.Close()
}

// Close implements Place.
func (f *ftpTree) Close() error {
	if s := f.idle; s != nil {
		f.idle = nil
		_ = s.Quit()
		s.end()
	}
	return nil
}

// List implements Place.
func (f *ftpTree) List(ctx context.Context, from string) iter.Seq2[File, error] {
	if f.file {
		return alone(ctx, f)
	}
	return allBelow(ctx, f.entries, from)
}

// entries lists a folder.
func (f *ftpTree) entries(_ context.Context, dir string) (all []entry, err error) {
	s, err := f.session()
	if err != nil {
		return nil, err
	}
	s.left = listingBytes
	found, err := s.List(path.Join(f.at.root, dir))
	s.left = -1
	if s.endless {
		s.end()
		return nil, errEndless
	}
	if err != nil {
		s.end()
		return nil, f.typed(err)
	}
	f.keep(s)
	for _, e := range found {
		all = append(all, entry{described(e.Name, e, s.IsTimePreciseInList()), e.Type == ftp.EntryTypeFolder})
	}
	return all, nil
}

// keep keeps a connection for later.
func (f *ftpTree) keep(s *ftpSession) {
	if f.idle != nil {
		s.end()
		return
	}
	f.idle = s
}

// described is what a list says of a file. A link may lead anywhere: it is none.
func described(name string, e *ftp.Entry, precise bool) File {
	one := File{Name: name, Size: int64(min(e.Size, 1<<62)), Modified: e.Time}
	one.Version = version(one.Size, time.Time{})
	if precise {
		one.Version = version(one.Size, e.Time)
	}
	if e.Type == ftp.EntryTypeLink {
		one.Err = fmt.Errorf("%w: a link", ErrNoFile)
	}
	return one
}

// Stat implements Place.
func (f *ftpTree) Stat(_ context.Context, name string) (File, error) {
	one := File{Name: name}
	if name != "" && !local(name) {
		return one, ErrOutside
	}
	s, err := f.session()
	if err != nil {
		return one, err
	}
	defer f.keep(s)
	at := path.Join(f.at.root, name)
	if e, err := s.GetEntry(at); err == nil {
		one = described(name, e, true)
		if e.Type == ftp.EntryTypeFolder {
			one.Err = ErrNoFile
		}
		return one, one.Err
	}
	if one.Size, err = s.FileSize(at); err != nil {
		var said *textproto.Error
		if errors.As(err, &said) && said.Code == ftp.StatusFileActionIgnored { // as some say of what is not there
			return one, fmt.Errorf("%w: %w", fs.ErrNotExist, err)
		}
		return one, f.typed(err)
	}
	if at, err := s.GetTime(at); err == nil {
		one.Modified = at
	}
	one.Version = version(one.Size, one.Modified)
	return one, nil
}

// Open implements Place. What is cut off on its way is asked for again from there on.
func (f *ftpTree) Open(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	one, err := f.Stat(ctx, name)
	if err != nil {
		return nil, err
	}
	return resume(offset, one.Size, func(at int64) (io.ReadCloser, error) { return f.retrieve(name, at) })
}

// retrieve asks for a file from a byte on. Of a server that knows only whole files the
// first bytes are passed over.
func (f *ftpTree) retrieve(name string, at int64) (io.ReadCloser, error) {
	s, err := f.session()
	if err != nil {
		return nil, err
	}
	where := path.Join(f.at.root, name)
	resp, err := s.RetrFrom(where, uint64(max(at, 0)))
	var said *textproto.Error
	if at > 0 && errors.As(err, &said) && said.Code >= 500 && said.Code <= 504 {
		if resp, err = s.Retr(where); err == nil {
			_, err = io.CopyN(io.Discard, resp, at)
		}
	}
	if err != nil {
		s.end()
		return nil, f.typed(err)
	}
	return &retrieved{Response: resp, of: f, session: s}, nil
}

// retrieved is a file on its way.
type retrieved struct {
	*ftp.Response
	of      *ftpTree
	session *ftpSession
	ended   bool
}

// Read implements io.Reader.
func (r *retrieved) Read(p []byte) (int, error) {
	n, err := r.Response.Read(p)
	r.ended = r.ended || errors.Is(err, io.EOF)
	return n, err
}

// Close implements io.Closer. A connection on which a file was not read to its end is
// not used again: what the server says of that is not waited for.
func (r *retrieved) Close() error {
	if r.session == nil {
		return nil
	}
	s := r.session
	r.session = nil
	if r.ended && r.Response.Close() == nil {
		r.of.keep(s)
		return nil
	}
	s.end()
	_ = r.Response.Close()
	return nil
}

// refused is why nobody was let in, unless the server only went away meanwhile.
func (f *ftpTree) refused(err error) error {
	var broken net.Error
	var said *textproto.Error
	if errors.As(err, &broken) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &said) && said.Code < 500 {
		return f.typed(err)
	}
	return fmt.Errorf("%w: %s does not let %s in: %w", ErrRefused, f.at.host, f.at.user, err)
}

// typed says of an error whether a file is not there, or not to be had, or nothing is
// known.
func (f *ftpTree) typed(err error) error {
	var said *textproto.Error
	switch {
	case errors.Is(err, ErrRefused), errors.Is(err, ErrAway), errors.Is(err, ErrEndless):
		return err
	case !errors.As(err, &said):
	case said.Code == ftp.StatusNotLoggedIn:
		return f.refused(err)
	case said.Code == ftp.StatusFileUnavailable, said.Code == ftp.StatusBadFileName:
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return unanswered(f.at.host, err)
}
