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

// userAgent returns the User-Agent header: "Gleaner/1.2 (+CONTACT)".
func userAgent(version, contact string) string {
	ua := product
	if version != "" {
		ua += "/" + version
	}
	if contact != "" {
		ua += " (+" + contact + ")"
	}
	return ua
}

// fromHeader returns the value of From, which robots should send (RFC 9110 section 10.1.2), or ""
// if the contact is a web page.
func fromHeader(contact string) string {
	contact = strings.TrimPrefix(contact, "mailto:")
	if strings.Contains(contact, "://") || !strings.Contains(contact, "@") {
		return ""
	}
	return contact
}
