package notify

import (
	"context"
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"strconv"

	gomail "github.com/wneessen/go-mail"
)

type mailServer struct {
	client   *gomail.Client
	from, to string
}

// newMail makes a channel of an address: smtps from the first byte under TLS; smtp
// under TLS where the server offers it, and always where a password is said.
func newMail(address, from, to string) (*mailServer, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("config: notify-smtp is no address") // the parser would repeat it, with its password
	}
	o := []gomail.Option{gomail.WithTimeout(longest), gomail.WithTLSPortPolicy(gomail.TLSOpportunistic)}
	if u.Scheme == "smtps" {
		o = append(o, gomail.WithSSLPort(false))
	}
	if u.User != nil {
		if u.Scheme == "smtp" {
			o = append(o, gomail.WithTLSPortPolicy(gomail.TLSMandatory))
		}
		password, _ := u.User.Password()
		o = append(o, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(u.User.Username()), gomail.WithPassword(password))
	}
	if p := u.Port(); p != "" {
		n, err := strconv.Atoi(p)
		if err != nil {
			return nil, errors.New("config: notify-smtp has no such port")
		}
		o = append(o, gomail.WithPort(n))
	}
	c, err := gomail.NewClient(u.Hostname(), o...)
	if err != nil {
		return nil, fmt.Errorf("config: notify-smtp: %w", err)
	}
	return &mailServer{client: c, from: from, to: to}, nil
}

func (s *mailServer) Name() string { return "mail" }

// Send hands a message to the mail server.
func (s *mailServer) Send(ctx context.Context, m Message) error {
	to, err := mail.ParseAddressList(s.to)
	if err != nil {
		return fmt.Errorf("config: notify-mail-to: %w", err)
	}
	msg := gomail.NewMsg()
	if err := msg.From(s.from); err != nil {
		return fmt.Errorf("config: notify-mail-from: %w", err)
	}
	for _, a := range to {
		if err := msg.AddTo(a.String()); err != nil {
			return fmt.Errorf("config: notify-mail-to: %w", err)
		}
	}
	msg.Subject(m.Subject)
	msg.SetDateWithValue(m.At)
	msg.SetMessageID()
	msg.SetBulk() // answers of absent people are not wanted
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	if err := s.client.DialAndSendWithContext(ctx, msg); err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	return nil
}
