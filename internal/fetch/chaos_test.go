package fetch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
)

// pour writes the same again and again until nobody reads.
func pour(w http.ResponseWriter, first, again string) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, first); err != nil {
		return
	}
	for part := strings.Repeat(again, 1+(16<<10)/len(again)); err == nil; {
		_, err = io.WriteString(conn, part)
	}
}

// TestHostileAnswers has a server say what no honest one says. Each is named, and
// none takes more than its limits.
func TestHostileAnswers(t *testing.T) {
	t.Parallel()
	const ok, page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n", "<html>whole</html>"
	raw := func(answer string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { hijack(w, answer) }
	}
	to := func(location string) http.HandlerFunc {
		return raw("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + location + "\r\n\r\n")
	}
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		want   gleaner.Outcome
	}{
		"a header line of 10 MB":   {func(w http.ResponseWriter, _ *http.Request) { pour(w, ok+"X: ", "x") }, BadAnswer},
		"header lines without end": {func(w http.ResponseWriter, _ *http.Request) { pour(w, ok, "X: y\r\n") }, BadAnswer},
		"10,000 cookies":           {raw(ok + strings.Repeat("Set-Cookie: a=0123456789012345678901234567890123456789\r\n", 10_000) + "\r\n" + page), BadAnswer},
		"1xx without end": {func(w http.ResponseWriter, _ *http.Request) {
			pour(w, "", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
		}, BadAnswer},
		"switching protocols":          {raw("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n" + page), BadAnswer},
		"status 999":                   {raw("HTTP/1.1 999 Request denied\r\nContent-Length: 4\r\n\r\ntext"), BadStatus},
		"status 000":                   {raw("HTTP/1.1 000 Nothing\r\nContent-Length: 4\r\n\r\ntext"), BadAnswer},
		"status 99999":                 {raw("HTTP/1.1 99999 Much\r\n\r\n"), BadAnswer},
		"status of words":              {raw("HTTP/1.1 abc\r\n\r\n"), BadAnswer},
		"a chunk of 2^63":              {raw(ok + "Transfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n" + page), Truncated},
		"a chunk of 2^68":              {raw(ok + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n" + page), Truncated},
		"a chunk below 0":              {raw(ok + "Transfer-Encoding: chunked\r\n\r\n-1\r\n" + page), Truncated},
		"a chunk's length without end": {func(w http.ResponseWriter, _ *http.Request) { pour(w, ok+"Transfer-Encoding: chunked\r\n\r\n", "0") }, Truncated},
		"chunks with more comment than content": {func(w http.ResponseWriter, _ *http.Request) {
			pour(w, ok+"Transfer-Encoding: chunked\r\n\r\n", "1;"+strings.Repeat("x", 1000)+"\r\na\r\n")
		}, Truncated},
		"trailers without end": {func(w http.ResponseWriter, _ *http.Request) {
			pour(w, ok+"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n", "X: y\r\n")
		}, Truncated},
		"an unknown transfer":     {raw(ok + "Transfer-Encoding: gzip, chunked\r\n\r\n"), BadAnswer},
		"a length below 0":        {raw(ok + "Content-Length: -5\r\n\r\n" + page), BadAnswer},
		"a length of 2^70":        {raw(ok + "Content-Length: 1180591620717411303424\r\n\r\n" + page), BadAnswer},
		"a length of 2^62":        {raw(ok + "Content-Length: 4611686018427387904\r\n\r\n" + page), TooLarge},
		"two lengths":             {raw(ok + "Content-Length: 5\r\nContent-Length: 50\r\n\r\n" + page), BadAnswer},
		"more promised than sent": {raw(ok + "Content-Length: 50\r\n\r\n" + page), Truncated},
		"less promised than sent": {raw(ok + "Content-Length: 6\r\n\r\n" + page), gleaner.OK},
		"a length and chunks":     {raw(ok + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n<html>\r\n0\r\n\r\n"), gleaner.OK},
		"to a file":               {to("file:///etc/passwd"), BadURL},
		"to data":                 {to("data:text/html,hello"), BadURL},
		"to a script":             {to("javascript:alert(1)"), BadURL},
		"to gopher":               {to("gopher://127.0.0.1:6379/_INFO"), BadURL},
		"to a shell's port":       {to("http://www.example.org:22/"), RedirectOffHost},
		"to a database's port":    {to("http://www.example.org:5432/"), RedirectOffHost},
		"to port 0":               {to("http://www.example.org:0/"), RedirectOffHost},
		"to port 99999":           {to("http://www.example.org:99999/"), BadAnswer},
		"to the metadata service": {to("http://169.254.169.254/latest/meta-data/"), AddressDenied},
		"to it as a number":       {to("http://2852039166/latest/"), AddressDenied},
		"to it in IPv6":           {to("http://[::ffff:169.254.169.254]/"), AddressDenied},
		"to it by NAT64":          {to("http://[64:ff9b::a9fe:a9fe]/"), AddressDenied},
		"to 10.x in octal":        {to("http://012.0.0.1/"), AddressDenied},
		"to 10.x in full width":   {to("http://１０.0.0.1/"), AddressDenied},
		"to a user":               {to("http://root:secret@www.example.org/"), RedirectOffHost},
		"to a host by mistake":    {to("http:///etc/passwd"), RedirectOffHost},
		"to blanks":               {to("   "), BadAnswer},
		"to a host of controls":   {to("http://www.exa\x01mple.org/"), BadAnswer},
		"to a URL of 100 KB":      {to("/" + strings.Repeat("a", 100<<10)), BadURL},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := site(t, tt.answer)
			// All addresses count as public here but for those of the test's servers.
			resp, err := testClient(t, nil).Fetch(context.Background(), Request{URL: s.URL + "/page"})
			require.Equal(t, tt.want, OutcomeOf(err), "%v", err)
			if tt.want == gleaner.OK {
				require.Equal(t, "<html>", string(resp.Body))
				return
			}
			var e *Error
			require.True(t, errors.As(err, &e), "%v", err)
			require.Less(t, len(e.Error()), 4<<10, "what a server says is not repeated without end")
		})
	}
}

// TestOddNamesOfLoopback: none of them leads to this machine, and none is taken
// for a name.
func TestOddNamesOfLoopback(t *testing.T) {
	t.Parallel()
	c := testClient(t, func(cfg *Config) { cfg.AllowLoopback = false })
	for _, host := range []string{"127.0.0.1", "127.1", "0x7f.1", "0x7f.0.0.1", "0177.1", "2130706433", "0x7f000001", "017700000001", "127.0.0.1.", "127.0.0.1..", "[::1]", "[::]",
		"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[2002:7f00:1::]", "0", "0.0.0.0", "localhost", "LocalHost",
		"127。0。0。1", "①②⑦.0.0.1", "169.254.169.254", "0xa9fea9fe", "[fd00:ec2::254]", "[fe80::1%25eth0]"} {
		require.Contains(t, []gleaner.Outcome{AddressDenied, BadURL}, outcome(c, "http://"+host+"/"), host)
	}
}

// FuzzDecoders unpacks anything by each coding: it ends within its limits, and with
// a name.
func FuzzDecoders(f *testing.F) {
	codes := []string{"gzip", "deflate", "br", "zstd", "gzip, br", "zstd, deflate, gzip"}
	for i, code := range codes {
		plain := []byte(strings.Repeat("some text ", 50))
		for _, one := range strings.Split(code, ", ") {
			plain = pack(f, one, plain)
		}
		f.Add(i, plain)
		f.Add(i, plain[:len(plain)/2])
		f.Add(i, append(bytes.Clone(plain), plain...))
	}
	f.Add(0, append(bytes.Repeat(pack(f, "gzip", nil), 9), "padding"...))
	f.Add(1, pack(f, "bare-deflate", []byte("text")))
	f.Add(3, []byte{0x50, 0x2a, 0x4d, 0x18, 0xff, 0xff, 0xff, 0xff})       // a frame to be skipped, of 4 GiB
	f.Add(3, []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0xf8, 1, 0, 0})             // a window of 2^41
	f.Add(2, []byte{0x11, 0x1e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}) // a large window
	limits := Limits{PageBytes: 1 << 20, DocumentBytes: 1 << 20, MediaBytes: 1 << 20}.withDefaults()
	f.Fuzz(func(t *testing.T, code int, in []byte) {
		h := http.Header{"Content-Encoding": {codes[uint(code)%uint(len(codes))]}, "Content-Length": {strconv.Itoa(len(in))}}
		resp := &http.Response{Header: h, ContentLength: int64(len(in)), Body: io.NopCloser(bytes.NewReader(in))}
		got, err := unpack(t.Context(), resp, limits)
		assert.False(t, err == nil && len(got) > 1<<20)
		if e := (*Error)(nil); err != nil && (!errors.As(err, &e) || e.Outcome == "") {
			t.Errorf("no name for %v", err)
		}
	})
}
