package page

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/html/atom"
)

// A page that is longer, or has more links, is no wall whatever it says: what
// stands in the way has little else on it.
const (
	wallText  = 1500
	wallLinks = 25
)

// signs are what markup tells of a wall. Each may stand on an ordinary page:
// wall weighs them.
type signs struct {
	passwords int  // <input type=password>
	sso       bool // a form that hands over to single sign-on
	captcha   bool // a CAPTCHA's element or script
	challenge bool // a browser check's script
}

// see takes the present tag.
func (s *signs) see(b *builder) {
	switch b.scan.atom {
	case atom.Input:
		if equalFold(b.scan.attr("type"), "password") {
			s.passwords++
		}
		if n := b.scan.attr("name"); bytes.Equal(n, []byte("SAMLRequest")) || bytes.Equal(n, []byte("SAMLResponse")) {
			s.sso = true
		}
	case atom.Form:
		s.address(b.scan.attr("action"))
	case atom.Script:
		s.address(b.scan.attr("src"))
	case atom.Div:
		for _, v := range [][]byte{b.scan.attr("class"), b.scan.attr("id")} {
			if hasToken(v, "g-recaptcha") || hasToken(v, "h-captcha") || hasToken(v, "cf-turnstile") || hasToken(v, "captcha-container") {
				s.captcha = true
			}
			if hasToken(v, "cf-browser-verification") || hasToken(v, "challenge-running") || hasToken(v, "cf-wrapper") {
				s.challenge = true
			}
		}
	}
}

// address takes where a form, a script or a frame leads.
func (s *signs) address(ref []byte) {
	if len(ref) == 0 || len(ref) > 2000 {
		return
	}
	lower := bytes.ToLower(ref)
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return bytes.Contains(lower, []byte(p)) })
	}
	s.sso = s.sso || has("saml2/redirect", "saml2/post", "shibboleth.sso", "/wayf", "/cas/login", "login.microsoftonline", "/idp/profile")
	s.challenge = s.challenge || has("/cdn-cgi/challenge-platform", "_incapsula_resource", "/cdn-cgi/l/chk", "/_sec/cp_challenge", "techaro")
	s.captcha = s.captcha || has("recaptcha/api", "hcaptcha.com", "challenges.cloudflare.com", "captcha-delivery")
}

// The words by which the walls name themselves, lower case. Those in titles are
// enough by themselves on a short page; the others have to stand on one that is
// nearly empty.
var (
	botTitles = []string{
		"just a moment", "attention required! | cloudflare", "are you a robot", "are you human", "robot check", "security check",
		"pardon our interruption", "access to this page has been denied", "ddos-guard", "making sure you're not a bot",
		"bot verification", "captcha", "one more step", "human verification", "please wait... | cloudflare",
	}
	botWords = []string{
		"checking your browser before accessing", "checking if the site connection is secure", "verify you are human",
		"verify that you are human", "verify you are not a robot", "confirm that you are not a robot", "prove you are not a robot",
		"unusual traffic from your", "automated requests from your", "incapsula incident id", "please complete the security check",
		"ddos protection by", "enter the characters you see", "type the characters you see", "complete the captcha",
		"needs to review the security of your connection",
	}
	loginTitles = []string{
		"log in", "login", "log-in", "sign in", "signin", "sign-in", "single sign-on", "single sign on", "authentication required",
		"web login service", "central authentication service", "anmelden", "anmeldung", "connexion", "iniciar sesión", "accedi",
		"institutional access", "stale request", "shibboleth authentication request",
	}
	payWords = []string{
		"purchase pdf", "purchase article", "purchase this article", "buy this article", "buy article", "buy single article",
		"access through your institution", "access via your institution", "institutional login", "institutional sign in",
		"subscribe to read", "subscribe to access", "subscription required", "rent this article", "get full access to this article",
		"log in via an institution", "full text is available to subscribers", "you do not have access to this", "check access options",
	}
	cookieWords = []string{
		"cookies must be enabled", "enable cookies", "cookies are disabled", "cookies are required", "requires cookies",
		"accept cookies to continue", "please enable javascript", "enable javascript to", "javascript is required",
		"requires javascript", "javascript is disabled", "you need to enable javascript", "turn on javascript", "cookies aktivieren",
		"activer les cookies",
	}
)

// wall decides whether a page stands in the way of what was asked for. It would
// rather miss a wall than call an author's page one.
func (s *signs) wall(p *Page, header http.Header) Wall {
	if strings.EqualFold(header.Get("Cf-Mitigated"), "challenge") {
		return WallBot
	}
	if len(p.Text) > wallText || len(p.Links) > wallLinks || citesDocument(p) {
		return NoWall
	}
	title, text := strings.ToLower(p.Title), strings.ToLower(p.Text)
	short := len(text) <= wallText/2
	switch {
	case s.challenge && short, beginsWithAny(title, botTitles) && (s.captcha || s.challenge || short && len(p.Links) <= 5):
		return WallBot
	case containsAny(text, botWords) > 0 && (s.captcha || len(p.Links) <= 5), s.captcha && s.passwords == 0 && len(text) <= 400 && len(p.Links) <= 5:
		return WallBot
	case s.sso && (s.passwords > 0 || len(text) <= 600):
		return WallLogin
	case hasTitle(title, loginTitles) && len(text) <= 600 && len(p.Links) <= 5:
		return WallLogin
	case s.passwords > 0 && (short || hasTitle(title, loginTitles)):
		return WallLogin
	case containsAny(text, payWords) >= 2:
		return WallLogin
	case len(text) <= 600 && len(p.Links) <= 5 && containsAny(text, cookieWords) > 0 && !showsMore(p):
		return WallCookie
	}
	return NoWall
}

// citesDocument says whether a page names or links a document: then nothing
// stands in its way.
func citesDocument(p *Page) bool {
	return slices.ContainsFunc(p.Links, func(l Link) bool { return l.Source == SourceCitation })
}

// showsMore says whether the page is made of others, or a script makes it of data that
// can be read without it.
func showsMore(p *Page) bool {
	return slices.ContainsFunc(p.Links, func(l Link) bool {
		return l.Source == SourceFrame || l.Source == SourceData || l.Source == SourceList
	})
}

// containsAny counts the phrases that s has.
func containsAny(s string, phrases []string) int {
	n := 0
	for _, p := range phrases {
		if strings.Contains(s, p) {
			n++
		}
	}
	return n
}

// beginsWithAny says whether s starts with one of some phrases.
func beginsWithAny(s string, phrases []string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.HasPrefix(s, p) })
}

// hasTitle says whether a title is one of some phrases, alone or beside the
// name of the site.
func hasTitle(title string, phrases []string) bool {
	for part := range strings.FieldsFuncSeq(title, func(r rune) bool { return r == '|' || r == '-' || r == '–' || r == ':' || r == '·' || r == '»' }) {
		part = strings.TrimSpace(part)
		for _, p := range phrases {
			if part == p || strings.HasPrefix(part, p+" ") && len(part) < len(p)+24 {
				return true
			}
		}
	}
	return false
}
