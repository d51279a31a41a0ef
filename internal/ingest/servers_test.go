package ingest

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pkg/sftp"
	"github.com/stretchr/testify/require"
	ftpd "goftp.io/server/v2"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"
)

// disk is what servers of files have: a folder, and what is wrong with them.
type disk struct {
	root    string
	cut     atomic.Int32 // files to be cut off after 4,000 bytes
	logins  atomic.Int32
	lie     int64 // what sizes are too large by
	endless bool  // lists have no end
	deep    bool  // every folder has a folder
}

const password = "correct horse"

// Stat implements ftpd.Driver.
func (d *disk) Stat(_ *ftpd.Context, name string) (fs.FileInfo, error) {
	info, err := os.Stat(filepath.Join(d.root, name))
	if err != nil && d.deep && strings.HasSuffix(name, "/again") {
		info, err = os.Stat(d.root)
	}
	if err != nil {
		return nil, err
	}
	return lying{info, d.lie}, nil
}

// lying is a file that says to be larger than it is.
type lying struct {
	fs.FileInfo
	by int64
}

func (l lying) Size() int64 { return l.FileInfo.Size() + l.by }

// renamed is a file of another name.
type renamed struct {
	fs.FileInfo
	name string
}

func (r renamed) Name() string { return r.name }

// ListDir implements ftpd.Driver.
func (d *disk) ListDir(_ *ftpd.Context, name string, tell func(fs.FileInfo) error) error {
	own, err := os.Stat(d.root)
	if err != nil {
		return err
	}
	if d.deep {
		return tell(renamed{own, "again"})
	}
	for i := 0; d.endless && i < 300_000; i++ {
		if err := tell(renamed{own, fmt.Sprintf("%0250d", i)}); err != nil {
			return err
		}
	}
	all, err := os.ReadDir(filepath.Join(d.root, name))
	for _, e := range all {
		if info, err := e.Info(); err == nil && tell(lying{info, d.lie}) != nil {
			return nil
		}
	}
	return err
}

// GetFile implements ftpd.Driver.
func (d *disk) GetFile(_ *ftpd.Context, name string, at int64) (int64, io.ReadCloser, error) {
	f, err := os.Open(filepath.Join(d.root, name))
	if err != nil {
		return 0, nil, err
	}
	if _, err := f.Seek(at, io.SeekStart); err != nil {
		return 0, nil, err
	}
	info, _ := f.Stat()
	if info.Size()-at > 8000 && d.cut.Add(-1) >= 0 {
		return info.Size(), &cutFile{f, 4000}, nil
	}
	return info.Size(), f, nil
}

// cutFile is a file that fails in the middle.
type cutFile struct {
	*os.File
	left int
}

func (c *cutFile) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, errors.New("the disk fails")
	}
	n, err := c.File.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

// DeleteDir and what follows implement ftpd.Driver: nothing is written.
func (d *disk) DeleteDir(*ftpd.Context, string) error      { return fs.ErrPermission }
func (d *disk) DeleteFile(*ftpd.Context, string) error     { return fs.ErrPermission }
func (d *disk) Rename(*ftpd.Context, string, string) error { return fs.ErrPermission }
func (d *disk) MakeDir(*ftpd.Context, string) error        { return fs.ErrPermission }
func (d *disk) PutFile(*ftpd.Context, string, io.Reader, int64) (int64, error) {
	return 0, fs.ErrPermission
}

// CheckPasswd implements ftpd.Auth.
func (d *disk) CheckPasswd(_ *ftpd.Context, user, pass string) (bool, error) {
	d.logins.Add(1)
	return user == "anonymous" || user == "ada" && pass == password, nil
}

// ftp serves it, and gives the server's address.
func (d *disk) ftp(t *testing.T) string {
	t.Helper()
	srv, err := ftpd.NewServer(&ftpd.Options{Driver: d, Auth: d, Perm: ftpd.NewSimplePerm("ada", "ada"), Hostname: "127.0.0.1", Logger: &ftpd.DiscardLogger{}})
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Shutdown() })
	return l.Addr().String()
}

// sshd is a server of SFTP.
type sshd struct {
	*disk
	address string
	known   string // file of its host key
	config  *ssh.ServerConfig
}

// sftp serves it by the files of the machine, or where something is wrong by handlers.
func (d *disk) sftp(t *testing.T) *sshd {
	t.Helper()
	s := &sshd{disk: d, known: filepath.Join(t.TempDir(), "known_hosts")}
	key := newKey(t)
	s.config = &ssh.ServerConfig{PasswordCallback: func(c ssh.ConnMetadata, pass []byte) (*ssh.Permissions, error) {
		d.logins.Add(1)
		if c.User() == "ada" && string(pass) == password {
			return nil, nil
		}
		return nil, errors.New("no")
	}}
	s.config.AddHostKey(key)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	s.address = l.Addr().String()
	s.knows(t, key.PublicKey())
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
	return s
}

func (s *sshd) knows(t *testing.T, key ssh.PublicKey) {
	t.Helper()
	require.NoError(t, os.WriteFile(s.known, []byte(knownhosts.Line([]string{s.address}, key)+"\n"), 0o600))
}

func newKey(t *testing.T) ssh.Signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	key, err := ssh.NewSignerFromKey(private)
	require.NoError(t, err)
	return key
}

func (s *sshd) serve(conn net.Conn) {
	defer conn.Close()
	_, channels, requests, err := ssh.NewServerConn(conn, s.config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for c := range channels {
		channel, requests, err := c.Accept()
		if err != nil {
			return
		}
		go func() {
			for r := range requests {
				_ = r.Reply(r.Type == "subsystem", nil)
			}
		}()
		s.files(conn, channel)
		_ = channel.Close()
	}
}

func (s *sshd) files(conn net.Conn, channel ssh.Channel) {
	if s.lie != 0 || s.endless || s.deep {
		_ = sftp.NewRequestServer(channel, sftp.Handlers{FileGet: s, FilePut: s, FileCmd: s, FileList: s}).Serve()
		return
	}
	var out io.ReadWriteCloser = channel
	if s.cut.Add(-1) >= 0 {
		out = &cutChannel{channel, conn, 60_000}
	}
	if srv, err := sftp.NewServer(out, sftp.ReadOnly()); err == nil {
		_ = srv.Serve()
	}
}

// cutChannel hangs up in the middle.
type cutChannel struct {
	ssh.Channel
	conn net.Conn
	left int
}

func (c *cutChannel) Write(p []byte) (int, error) {
	if c.left -= len(p); c.left < 0 {
		_ = c.conn.Close()
	}
	return c.Channel.Write(p)
}

// Fileread implements sftp.FileReader.
func (s *sshd) Fileread(r *sftp.Request) (io.ReaderAt, error) {
	return os.Open(filepath.Join(s.root, r.Filepath))
}

// Filewrite implements sftp.FileWriter.
func (s *sshd) Filewrite(*sftp.Request) (io.WriterAt, error) { return nil, fs.ErrPermission }

// Filecmd implements sftp.FileCmder.
func (s *sshd) Filecmd(*sftp.Request) error { return fs.ErrPermission }

// Filelist implements sftp.FileLister.
func (s *sshd) Filelist(r *sftp.Request) (sftp.ListerAt, error) {
	if r.Method == "Stat" {
		info, err := s.Stat(nil, r.Filepath)
		return infos{info}, err
	}
	if s.endless {
		return endless{}, nil
	}
	var all infos
	err := s.ListDir(nil, r.Filepath, func(i fs.FileInfo) error { all = append(all, i); return nil })
	return all, err
}

type infos []fs.FileInfo

func (l infos) ListAt(to []fs.FileInfo, at int64) (int, error) {
	if at >= int64(len(l)) {
		return 0, io.EOF
	}
	return copy(to, l[at:]), nil
}

// endless is a list that goes on and on.
type endless struct{}

func (endless) ListAt(to []fs.FileInfo, at int64) (int, error) {
	info, err := os.Stat(os.TempDir())
	for i := range to {
		to[i] = renamed{info, fmt.Sprintf("%0200d", at+int64(i))}
	}
	return len(to), err
}

// agentOf runs an agent that has a key, and gives its socket.
func agentOf(t *testing.T, key ed25519.PrivateKey) string {
	t.Helper()
	ring := agent.NewKeyring()
	require.NoError(t, ring.Add(agent.AddedKey{PrivateKey: key}))
	socket := filepath.Join(t.TempDir(), "agent")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _ = agent.ServeAgent(ring, conn) }()
		}
	}()
	return socket
}
