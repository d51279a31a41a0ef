package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"strconv"
	"strings"

	"gleaner/internal/fetch"
)

// Asker asks servers: a fetch.Client.
type Asker interface {
	Stream(ctx context.Context, req fetch.StreamRequest, use func(*fetch.Streamed) error) error
	Dial(ctx context.Context, host string, port, own uint16) (net.Conn, error)
	DialBeside(ctx context.Context, address string) (net.Conn, error)
}

// Logins are what servers that know their users are told. Those of buckets are where
// AWS's programs look for them.
type Logins struct {
	Password   string // of the user that an address names, or a table of them (PasswordOf)
	Identity   string // file of a private key for SFTP
	Agent      string // socket of an SSH agent
	KnownHosts string // file of the host keys that are known
}

// Places opens what imports name. The zero value opens folders and buckets.
type Places struct {
	Asker  Asker // nil asks no server
	Logins Logins
}

// Remote reports whether a path names a place that is no folder of this machine.
func Remote(where string) bool {
	scheme, _, is := strings.Cut(where, "://")
	return is && (scheme == "s3" || scheme == "ftp" || scheme == "sftp" || Web(where))
}

// Web reports whether a path names a file of a web server, which may be a list of
// others.
func Web(where string) bool {
	scheme, _, is := strings.Cut(strings.ToLower(where), "://")
	return is && (scheme == "http" || scheme == "https")
}

// Shown is what stands before the names of a place's files.
func Shown(where string) string {
	if Web(where) {
		return "" // they are whole addresses
	}
	prefix, _, _ := strings.Cut(where, "?")
	if !strings.HasPrefix(where, "s3://") {
		prefix = strings.TrimSuffix(prefix, "/") + "/"
	}
	return prefix
}

// Check reports what is wrong with the address of a place.
func Check(where string) error {
	if scheme, _, _ := strings.Cut(where, "://"); scheme == "ftp" || scheme == "sftp" {
		_, err := parseServer(where)
		return err
	}
	if u, err := url.Parse(where); Web(where) && (err != nil || u.Host == "" || u.User != nil) {
		return errors.New("it is no address of a file of a web server")
	}
	return nil
}

// Open opens a place that is no folder of this machine; tree says that all files below
// a folder are wanted, and of a bucket not what only begins like it.
func (p Places) Open(ctx context.Context, where string, tree bool) (Place, error) {
	if strings.HasPrefix(where, "s3://") {
		if tree {
			prefix, more, asked := strings.Cut(where, "?")
			if where = strings.TrimSuffix(prefix, "/") + "/"; asked {
				where += "?" + more
			}
		}
		return openBucket(ctx, where)
	}
	if p.Asker == nil {
		return nil, fmt.Errorf("%w: servers are not asked here", ErrRefused)
	}
	if Web(where) {
		return openWeb(ctx, p.Asker, where)
	}
	s, err := parseServer(where)
	if err != nil {
		return nil, err
	}
	if s.scheme == "ftp" {
		return openFTP(ctx, p.Asker, s, p.Logins)
	}
	return openSFTP(ctx, p.Asker, s, p.Logins)
}

// server is what an address says of a server of files.
type server struct {
	scheme, user, host, root string
	port, own                uint16 // own is the protocol's
}

func parseServer(where string) (s server, err error) {
	u, err := url.Parse(where)
	if err != nil || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" {
		return s, errors.New("it is no ftp://HOST/PATH or sftp://USER@HOST/PATH") // a password may be in it
	}
	if _, is := u.User.Password(); is {
		return s, errors.New("passwords do not belong in an address: set GLEANER_IMPORT_PASSWORD where the worker runs")
	}
	s = server{scheme: u.Scheme, user: u.User.Username(), host: u.Hostname(), root: "/" + strings.Trim(u.Path, "/"), own: 21}
	if s.scheme == "sftp" {
		s.own = 22
	}
	if s.port = s.own; u.Port() != "" {
		n, err := strconv.ParseUint(u.Port(), 10, 16)
		if err != nil {
			return s, fmt.Errorf("%.20q is no port", u.Port())
		}
		s.port = uint16(n)
	}
	return s, nil
}

// typed says of an error of the polite client whether a file is not there, is another
// by now, is not to be had, or nothing is known.
func typed(err error) error {
	var e *fetch.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Outcome == fetch.NotFound:
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	case e.Outcome == fetch.Changed:
		return fmt.Errorf("%w: %w", ErrChanged, err)
	case e.Outcome == fetch.NoContact || !fetch.Retryable(e.Outcome):
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return away(err)
}
