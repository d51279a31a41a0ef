package realdata

import (
	"bufio"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Farm is a running server of real websites, asked as a proxy.
type Farm struct {
	Proxy *url.URL
	CA    string // file of the authority that signs for its https hosts
}

// StartFarm builds the farm program and serves the sites under data (a folder a
// host) on a free loopback port until the test ends.
// Further arguments are the program's own.
func StartFarm(tb testing.TB, data string, args ...string) Farm {
	tb.Helper()
	source := Path(tb, "webfarm")
	dir := tb.TempDir()
	program := filepath.Join(dir, "webfarm")
	built, err := exec.Command("go", "-C", source, "build", "-o", program, ".").CombinedOutput()
	require.NoError(tb, err, "building the farm: %s", built)
	farm := Farm{Proxy: &url.URL{Scheme: "http", Host: freeAddress(tb)}, CA: filepath.Join(dir, "ca.pem")}
	cmd := exec.Command(program, append([]string{"-data", data, "-listen", farm.Proxy.Host, "-ca", farm.CA}, args...)...)
	out, err := cmd.StdoutPipe()
	require.NoError(tb, err)
	require.NoError(tb, cmd.Start())
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	// It prints a line when it is about to listen.
	_, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(tb, err, "the farm said nothing")
	require.Eventually(tb, func() bool {
		conn, err := net.DialTimeout("tcp", farm.Proxy.Host, time.Second)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, time.Minute, 10*time.Millisecond, "the farm does not answer")
	return farm
}

func freeAddress(tb testing.TB) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(tb, err)
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// Client returns a client that asks the farm.
func (f Farm) Client() *http.Client {
	return &http.Client{
		Transport: &http.Transport{Proxy: http.ProxyURL(f.Proxy)},
		Timeout:   20 * time.Second,
	}
}
