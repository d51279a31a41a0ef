package page_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"gleaner/internal/web/page"
)

func TestWalls(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("A sentence of an ordinary page about research and papers. ", 40)
	tests := []struct {
		name, body string
		header     http.Header
		want       page.Wall
	}{
		{"log-in form", `<title>Library - Log in</title><form action=/login><input name=user><input type=password name=pw></form>`, nil, page.WallLogin},
		{"log-in by script", `<title>Sign in</title>Please enable cookies to continue.`, nil, page.WallLogin},
		{"single sign-on", `<title>Web Login Service</title><form action="/idp/profile/SAML2/Redirect/SSO?execution=e1s1"><input name=j_username><input type="password"></form>`, nil, page.WallLogin},
		{"SAML hand-over", `<body onload="document.forms[0].submit()"><form method=post action="https://idp.example.org/x"><input type=hidden name="SAMLRequest" value="abc"></form>`, nil, page.WallLogin},
		{"pay wall", `<h1>On Things</h1><p>Purchase PDF 35 EUR</p><p>Access through your institution</p>`, nil, page.WallLogin},
		{"browser check", `<title>Just a moment...</title><div class="cf-browser-verification">Checking your browser before accessing example.org.</div><script src="/cdn-cgi/challenge-platform/h/b/orchestrate"></script>`, nil, page.WallBot},
		{"browser check by header", `<title>x</title>` + long, http.Header{"Cf-Mitigated": {"challenge"}}, page.WallBot},
		{"captcha", `<title>Security check</title><p>Please verify you are human.</p><div class="g-recaptcha"></div>`, nil, page.WallBot},
		{"unusual traffic", `<p>Our systems have detected unusual traffic from your computer network.</p>`, nil, page.WallBot},
		{"cookies", `<p>Cookies are required to use this site. Please enable cookies and reload.</p>`, nil, page.WallCookie},
		{"scripts", `<div id=root></div><noscript>You need to enable JavaScript to run this app.</noscript>`, nil, page.WallCookie},

		{"author's page with a log-in link", `<title>Ada</title><p>I am Ada.</p><a href=/login>Log in</a>`, nil, page.NoWall},
		{"author's page with a small log-in form", `<title>Ada's papers</title><form action=/login><input type=password></form>` + long, nil, page.NoWall},
		{"papers on CAPTCHAs", `<title>Publications on CAPTCHA</title><ul><li>How good are humans at solving CAPTCHAs? <a href=a.pdf>pdf</a><li>Are you a robot? A study. <a href=b.pdf>pdf</a></ul>`, nil, page.NoWall},
		{"contact form with a CAPTCHA", `<title>Contact</title><p>` + long + `<div class=g-recaptcha></div>`, nil, page.NoWall},
		{"landing page with a shop", `<meta name=citation_pdf_url content=x.pdf><p>Purchase PDF</p><p>Access through your institution</p>`, nil, page.NoWall},
		{"frames for browsers with scripts", `<frameset><frame src=a.html></frameset><noframes>Please enable JavaScript and frames</noframes>`, nil, page.NoWall},
		{"a course on cookies", `<title>Web course</title><p>` + long + ` Please enable cookies.`, nil, page.NoWall},
		{"nothing at all", ``, nil, page.NoWall},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, parse(t, tt.header, tt.body).Wall, tt.name)
	}
}

func TestSoftMissing(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		want       bool
	}{
		{"title", `<title>404 Not Found</title><h1>Sorry</h1>`, true},
		{"title and site", `<title>Page not found | Example University</title>menu`, true},
		{"heading", `<title>Example University</title><h1>Page Not Found</h1>`, true},
		{"with a colon", `<title>Error 404: nothing here</title>`, true},
		{"German", `<title>Seite nicht gefunden - Uni</title>`, true},
		{"sentence", `<title>Uni</title><p>The requested URL was not found on this server.</p>`, true},
		{"a paper", `<title>Not Found: a study of missing links</title><p>Abstract</p><a href=x.pdf>pdf</a>`, false},
		{"a heading among many", `<title>Archive</title><h2>Page Not Found</h2><h2>B</h2><h2>C</h2><h2>D</h2>`, false},
		{"room 404", `<title>Ada's office is room 404</title>`, false},
		{"long page", `<title>Not found</title>` + strings.Repeat("Text of the page. ", 200), false},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, parse(t, nil, tt.body).SoftMissing, tt.name)
	}
}
