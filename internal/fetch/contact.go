package fetch

import (
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"strings"
)

// errContact reports that no contact address is set. It is matched with errors.Is.
var errContact = errors.New("no contact address: set GLEANER_CONTACT to an e-mail address or a web page " +
	"where web masters reach you; without it only loopback addresses and a proxy are asked")

// checkContact accepts an e-mail address, a web address, or nothing.
func checkContact(contact string) error {
	if contact == "" {
		return nil
	}
	if strings.ContainsFunc(contact, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '(' || r == ')' }) {
		return fmt.Errorf("contact %q: blanks, brackets and non-ASCII characters do not fit into a User-Agent", contact)
	}
	if u, err := url.Parse(contact); err == nil && (u.Scheme == "http" || u.Scheme == "https") && strings.Contains(u.Host, ".") {
		return nil
	}
	a, err := mail.ParseAddress(strings.TrimPrefix(contact, "mailto:"))
	if err != nil || !strings.Contains(a.Address[strings.LastIndex(a.Address, "@"):], ".") {
		return fmt.Errorf("contact %q: neither an e-mail address nor a web address", contact)
	}
	return nil
}

// UserAgent returns the User-Agent header: "Gleaner/1.0 (+CONTACT)".
func UserAgent(contact string) string {
	ua := product + "/" + Version
	if contact != "" {
		ua += " (+" + contact + ")"
	}
	return ua
}

// Email returns the e-mail address of a contact, or "" if it is a web page. From, which robots
// should send, is one (RFC 9110 section 10.1.2).
func Email(contact string) string {
	contact = strings.TrimPrefix(contact, "mailto:")
	if strings.Contains(contact, "://") || !strings.Contains(contact, "@") {
		return ""
	}
	return contact
}
