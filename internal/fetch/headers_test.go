package fetch

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
)

func mustURL(t testing.TB, s string) *url.URL {
	u, err := url.Parse(s)
	require.NoError(t, err)
	return u
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)
	at := now.Add(90 * time.Second).Format(http.TimeFormat)
	for _, tt := range []struct {
		value, date string
		want        time.Duration
	}{
		{"", "", 0}, {"120", "", 2 * time.Minute}, {" 5 ", "", 5 * time.Second}, {"0", "", 0}, {"-5", "", 0}, {"1.5", "", 2 * time.Second}, {"2.0", "", 2 * time.Second}, {"2592000.5", "", longestRetryAfter}, {".5", "", 0}, {"1.2.3", "", 0}, {"soon", "", 0},
		{"99999999999999999999999", "", longestRetryAfter}, {"3000000", "", longestRetryAfter},
		{at, "", 90 * time.Second},
		{at, now.Add(60 * time.Second).Format(http.TimeFormat), 30 * time.Second},
		{at, "no date", 90 * time.Second},
		{now.Add(-time.Hour).Format(http.TimeFormat), "", 0},
		{now.Add(90 * time.Second).Format(time.RFC850), "", 90 * time.Second},
		{now.Add(90 * time.Second).Format(time.ANSIC), "", 90 * time.Second},
	} {
		h := http.Header{"Retry-After": {tt.value}, "Date": {tt.date}}
		require.Equal(t, tt.want, RetryAfter(h, now), "%q at %q", tt.value, tt.date)
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	for typ, want := range map[string]Kind{
		"": KindDocument, "TEXT/HTML; charset=x": KindPage, "text/html,text/html": KindPage, "application/xhtml+xml": KindPage,
		"text/plain": KindDocument, "application/pdf": KindDocument, "application/octet-stream": KindDocument,
		"image/png": KindMedia, "image/vnd.djvu": KindDocument, "video/mp4": KindMedia, ";;": KindDocument,
	} {
		require.Equal(t, want, kindOf(typ), typ)
	}
}

func TestConnectOutcome(t *testing.T) {
	t.Parallel()
	wrap := func(err error) error { return &url.Error{Op: "Get", URL: "http://x/", Err: err} }
	for name, tt := range map[string]struct {
		err      error
		answered bool
		want     gleaner.Outcome
	}{
		"no such name":        {wrap(&net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}}), false, DNSFailure},
		"name server away":    {wrap(&net.OpError{Op: "dial", Err: &net.DNSError{IsTimeout: true}}), false, DNSFailure},
		"refused":             {wrap(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), false, ConnectFailure},
		"dial too long":       {wrap(&net.OpError{Op: "dial", Err: context.DeadlineExceeded}), false, Timeout},
		"not allowed":         {wrap(&net.OpError{Op: "dial", Err: &AddressError{}}), false, AddressDenied},
		"no contact":          {wrap(&net.OpError{Op: "dial", Err: errContact}), false, NoContact},
		"closed":              {wrap(io.EOF), false, ConnectFailure},
		"reset":               {wrap(&net.OpError{Op: "read", Err: syscall.ECONNRESET}), false, ConnectFailure},
		"nonsense":            {wrap(errors.New("malformed HTTP response")), true, BadAnswer},
		"given up":            {wrap(context.Canceled), false, Canceled},
		"the proxy is silent": {wrap(&net.OpError{Op: "proxyconnect", Err: io.EOF}), true, ConnectFailure},
	} {
		require.Equal(t, tt.want, connectOutcome(tt.err, tt.answered), name)
	}
}

func TestEveryOutcomeIsRetryableOrPermanent(t *testing.T) {
	t.Parallel()
	for _, o := range []gleaner.Outcome{gleaner.OK, gleaner.NotModified} {
		require.False(t, Retryable(o), o)
	}
	for _, o := range []gleaner.Outcome{ServerError, Busy, RobotsUnavailable, DNSFailure, ConnectFailure, Timeout, SlowBody, Truncated, Parked, NoContact} {
		require.True(t, Retryable(o), o)
	}
	for _, o := range []gleaner.Outcome{NotFound, Forbidden, BadStatus, RobotsDenied, AddressDenied, Blacklisted, BadURL, TooLarge, Inflated, RedirectLoop, TooManyRedirects, RedirectOffHost} {
		require.False(t, Retryable(o), o)
	}
}

// FuzzHeaders has a server say anything in the headers that are acted upon.
func FuzzHeaders(f *testing.F) {
	f.Add("120", "text/html; charset=utf-8", "/next?a=1", "gzip, br")
	f.Add("Wed, 21 Oct 2030 07:28:00 GMT", "application/x-gzip", "//other.example/%zz", "identity,,x-gzip")
	f.Add("-1", ";", "http://[::1", "\x00")
	f.Add("1e9", "text/html,image/png", "\\\\host\\path", "deflate")
	c, err := New(Config{Proxy: "http://127.0.0.1:9"})
	require.NoError(f, err)
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	from, err := c.target(mustURL(f, "http://www.example.org/a/b?c=d"))
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, retry, typ, location, coding string) {
		h := http.Header{"Retry-After": {retry}, "Content-Type": {typ}, "Location": {location}, "Content-Encoding": {coding}, "Date": {retry}}
		if d := RetryAfter(h, now); d < 0 || d > longestRetryAfter {
			t.Errorf("Retry-After %q: %v", retry, d)
		}
		_ = kindOf(typ)
		none := func(int64) error { return nil }
		if r, done, err := inflater(strings.NewReader(location), codings(h), none); err == nil {
			_, _ = io.CopyN(io.Discard, r, 1<<16)
			done()
		}
		next, err := c.redirect(&exchange{Request: Request{FollowOffHost: true}, target: from, status: 302, answer: h})
		if err != nil {
			var e *Error
			require.ErrorAs(t, err, &e, "Location %v", location)
			assert.NotEmpty(t, e.Outcome, "Location %v", location)
			return
		}
		u := next.url
		if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.Fragment != "" || u.User != nil {
			t.Errorf("Location %q leads to %q", location, u)
		}
		_, err = http.NewRequest(http.MethodGet, next.raw, nil)
		require.NoError(t, err, "Location %v", location)
	})
}
