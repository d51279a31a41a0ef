package metadata

import (
	"bytes"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"gleaner/internal/venue"
)

// sharedDir finds the folder of real data beside the project, or skips.
func sharedDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("GLEANER_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	if _, err := os.Stat(filepath.Join(dir, "webfarm")); err != nil {
		t.Skip("no folder of real data: set GLEANER_SHARED to measure on it")
	}
	return dir
}

// startFarm serves the real websites as a proxy and returns its address.
func startFarm(t *testing.T) *url.URL {
	t.Helper()
	shared, err := filepath.Abs(sharedDir(t))
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(t.TempDir(), "webfarm")
	build := exec.Command("go", "build", "-o", bin, ".")
	build.Dir = filepath.Join(shared, "webfarm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the farm: %v\n%s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	var log bytes.Buffer
	farm := exec.Command(bin, "-data", filepath.Join(shared, "farm"), "-listen", addr, "-ca", filepath.Join(t.TempDir(), "ca.pem"))
	farm.Stdout, farm.Stderr = &log, &log
	if err := farm.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = farm.Process.Kill(); _ = farm.Wait() })
	deadline := time.Now().Add(20 * time.Second)
	for {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			c.Close()
			return &url.URL{Scheme: "http", Host: addr}
		}
		if time.Now().After(deadline) {
			t.Fatalf("the farm does not answer: %v\n%s", err, log.String())
		}
		<-time.After(20 * time.Millisecond)
	}
}

func TestRealVenues(t *testing.T) {
	t.Parallel()
	proxy := startFarm(t)
	d := NewDBLP(Config{
		DBLPURL: "http://dblp.org", DBLPMirrorURL: "-", Delays: Delays{DBLP: time.Millisecond},
		HTTPClient: &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy)}},
	})
	for _, c := range []struct {
		name  string
		key   string
		years venue.Years
		want  int
	}{
		{"conf/farm", "conf/farm", venue.Years{From: 1994, To: 2026}, 182},
		{"COLT", "conf/colt", venue.Years{From: 2016, To: 2018}, 237},
	} {
		v, err := d.ResolveVenue(t.Context(), c.name)
		if err != nil || v.Key != c.key {
			t.Fatalf("ResolveVenue(%q) = %+v, %v", c.name, v, err)
		}
		papers, err := d.List(t.Context(), v, c.years)
		if err != nil {
			t.Fatal(err)
		}
		authors := map[string]bool{}
		for _, p := range papers {
			if p.Title == "" || len(p.Authors) == 0 || !c.years.Contains(p.Year) {
				t.Errorf("incomplete: %+v", p)
			}
			for _, a := range p.Authors {
				authors[a.ID()] = true
			}
		}
		t.Logf("%s %s: %d papers, %d authors", v.Key, c.years, len(papers), len(authors))
		if len(papers) != c.want {
			t.Errorf("%s: %d papers, want %d", v.Key, len(papers), c.want)
		}
	}
	p, err := d.Person(t.Context(), "167/1454")
	if err != nil || len(p.URLs) != 1 || len(p.Titles) == 0 {
		t.Errorf("Person: %+v, %v", p, err)
	}
}
