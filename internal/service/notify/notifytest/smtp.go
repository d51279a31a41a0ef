// Package notifytest gives tests a mail server of their own.
package notifytest

import (
	"io"
	"net"
	"sync"
	"testing"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"
)

// Mailbox is a mail server on the loopback that keeps what it takes. It offers no TLS.
type Mailbox struct {
	Address string // host:port

	mu    sync.Mutex
	mails []string // recipients, a blank line, and the message
}

// New starts a mail server, which ends with the test.
func New(t *testing.T) *Mailbox {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	b := &Mailbox{Address: l.Addr().String()}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &session{box: b}, nil }))
	server.Domain = "mail.example"
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close(); <-done })
	return b
}

// Mails are the messages that were taken, each behind its recipients.
func (b *Mailbox) Mails() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string{}, b.mails...)
}

// session is an smtp.Session.
type session struct {
	box *Mailbox
	to  string
}

func (s *session) Reset() { s.to = "" }

func (s *session) Logout() error { return nil }

func (s *session) Mail(string, *smtp.MailOptions) error { return nil }

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to += to + "\n"
	return nil
}

func (s *session) Data(r io.Reader) error {
	body, err := io.ReadAll(r)
	s.box.mu.Lock()
	defer s.box.mu.Unlock()
	s.box.mails = append(s.box.mails, s.to+"\n"+string(body))
	return err
}
