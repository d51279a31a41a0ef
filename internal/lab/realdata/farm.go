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
)

// Farm is a running server of real websites, asked as a proxy.
type Farm struct {
	Proxy *url.URL
	CA    string // file of the authority that signs for its https hosts
}

// StartFarm builds the farm program and serves the sites under data (a folder a
// host; "" for the real ones) on a free loopback port until the test ends.
// Further arguments are the program's own.
func StartFarm(tb testing.TB, data string, args ...string) Farm {
	tb.Helper()
	source := Path(tb, "webfarm")
	if data == "" {
		data = Path(tb, "farm")
	}
	dir := tb.TempDir()
	program := filepath.Join(dir, "webfarm")
	if out, err := exec.Command("go", "-C", source, "build", "-o", program, ".").CombinedOutput(); err != nil {
		tb.Fatalf("building the farm: %v\n%s", err, out)
	}
	farm := Farm{Proxy: &url.URL{Scheme: "http", Host: freeAddress(tb)}, CA: filepath.Join(dir, "ca.pem")}
	cmd := exec.Command(program, append([]string{"-data", data, "-listen", farm.Proxy.Host, "-ca", farm.CA}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	// It prints a line when it is about to listen.
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		tb.Fatalf("the farm said nothing: %v", err)
	}
	for tries := 0; ; tries++ {
		conn, err := net.DialTimeout("tcp", farm.Proxy.Host, time.Second)
		if err == nil {
			_ = conn.Close()
			return farm
		}
		if tries == 500 {
			tb.Fatalf("the farm does not answer: %v", err)
		}
		<-time.After(10 * time.Millisecond)
	}
}

func freeAddress(tb testing.TB) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
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
