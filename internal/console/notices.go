package console

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// redirect is the page to which a browser is led after something was done, and what was
// done, in a line.
type redirect struct{ to, notice string }

// Onward is itself: what embeds it leads on.
func (to redirect) Onward() redirect { return to }

// was is the page from which a form was sent; other where the browser does not say.
func (a *asked) was(other string) string {
	u, err := url.Parse(a.Referer())
	if err != nil || u.Path == "" {
		return other
	}
	return local(u.RequestURI())
}

// plainly is what a command says, without what a command line alone understands: the
// dashes of flags, the part of a sentence that names a command, and whose mistake it is.
func plainly(said string) string {
	said = aMistake.ReplaceAllString(said, "")
	return aFlag.ReplaceAllString(aCommand.ReplaceAllString(said, ""), "$1$2")
}

var (
	aCommand = regexp.MustCompile("; [^;]*`starter [^;]*")
	aMistake = regexp.MustCompile("^(wrong (usage|input): )+")
	aFlag    = regexp.MustCompile(`(^|[\s(:])--([a-z])`)
)

// What was done is kept in a cookie until the page that says so is shown.
const (
	noticeSuffix = "-notice"
	noticeTime   = time.Minute
	maxNotice    = 1000 // bytes
)

// lead leads a browser on, with a notice of what was done.
func lead(c *Console, w http.ResponseWriter, r *http.Request, on redirect) {
	said := plainly(on.notice)
	said = base64.RawURLEncoding.EncodeToString([]byte(said[:min(len(said), maxNotice)]))
	http.SetCookie(w, c.cookie(noticeSuffix, said, int(noticeTime/time.Second)))
	http.Redirect(w, r, on.to, http.StatusSeeOther) // #nosec G710 -- a page of the console
}

// noticeOf is what was done before this page, which is said once.
func noticeOf(c *Console, w http.ResponseWriter, r *http.Request) string {
	k, err := r.Cookie(c.cookieName() + noticeSuffix)
	if err != nil {
		return ""
	}
	http.SetCookie(w, c.cookie(noticeSuffix, "", -1))
	said, _ := base64.RawURLEncoding.DecodeString(k.Value) // of another's making it is nothing
	return strings.ToValidUTF8(string(said), "")
}
