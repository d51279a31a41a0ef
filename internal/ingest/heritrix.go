package ingest

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gleaner/internal/ingest/archive"
)

// crawlLog is the name of Heritrix's log.
const crawlLog = "crawl.log"

// heritrixLog understands the lines of a crawl.log: the time, the status, the size,
// the URL, the discovery path, the page that led there, the MIME type, the thread, when
// it was fetched, the digest, and notes, with blanks between.
type heritrixLog struct{}

// heritrixList finds a crawl.log, and the mirror of what it names: path is the log, or
// the folder of the job.
func (d disk) heritrixList(path string, info os.FileInfo) ([]list, error) {
	file := path
	if info.IsDir() {
		if file = d.firstThere(filepath.Join(path, crawlLog), filepath.Join(path, "logs", crawlLog)); file == "" {
			return nil, fmt.Errorf("%s holds no %s, nor does its folder logs", path, crawlLog)
		}
	}
	dir := filepath.Dir(file)
	mirrors := []string{filepath.Join(dir, "mirror")}
	if filepath.Base(dir) == "logs" && dir != filepath.Clean(path) { // nothing above a folder that was named is read
		mirrors = append(mirrors, filepath.Join(filepath.Dir(dir), "mirror"))
	}
	mirror := d.firstThere(mirrors...)
	mirror = cmp.Or(mirror, dir)
	return []list{{file, mirror, heritrixLog{}}}, nil
}

func (heritrixLog) header() bool       { return false }
func (heritrixLog) begin(string) error { return nil }
func (heritrixLog) whole([]byte) bool  { return true }

// The fields of a crawl.log.
const (
	logTime = iota
	logStatus
	logSize
	logURL
	logPath
	logVia
	logMedia
	logThread
	logFetched
	logDigest
)

func (heritrixLog) parse(line []byte) (*Resource, []string, error) {
	f := strings.Fields(string(line))
	if len(f) == 0 {
		return nil, nil, nil
	}
	if len(f) <= logMedia {
		return nil, nil, fmt.Errorf("%d fields, and a line of a %s has at least %d", len(f), crawlLog, logMedia+1)
	}
	status, err := statusIn(f[logStatus])
	if err != nil {
		return nil, nil, err
	}
	r := &Resource{URL: f[logURL], Media: f[logMedia], Crawled: fetched(f), Depth: -1}
	r.Header = http.Header{"Content-Type": {r.Media}}
	r.setProvenance(provenanceIn(f))
	scheme, _, _ := strings.Cut(r.URL, ":")
	if scheme = strings.ToLower(scheme); scheme == "dns" || scheme == "whois" {
		r.Skip = scheme
		return r, nil, nil
	}
	if status != http.StatusOK && status != http.StatusNonAuthoritativeInfo {
		r.Skip = statusOf(status)
		return r, nil, nil
	}
	if len(f) > logDigest {
		r.SHA1 = archive.SHA1(f[logDigest])
	}
	return r, mirrorNames(r.URL), nil
}

// statusOf says of an answer without a document which it was; of Heritrix's own codes
// there are many, and they are negative.
func statusOf(status int) string {
	if status < 0 {
		return "not fetched"
	}
	return "status " + strconv.Itoa(status)
}

// provenanceIn returns how the URL of a line of a crawl.log was found.
func provenanceIn(f []string) provenance {
	s := provenance{url: f[logURL], parent: f[logVia], path: f[logPath]}
	if s.parent == "-" {
		s.parent = ""
	}
	return s // a seed's path is "-", as seedPath
}

// fetched is when a line's URL was asked for, else when the line was written.
func fetched(f []string) time.Time {
	if len(f) > logFetched {
		began, _, _ := strings.Cut(f[logFetched], "+")
		for _, layout := range []string{"20060102150405.000", "20060102150405"} {
			if len(began) == 17 {
				began = began[:14] + "." + began[14:]
			}
			if t, err := time.Parse(layout, began); err == nil {
				return t
			}
		}
	}
	t, _ := time.Parse(time.RFC3339Nano, f[logTime])
	return t
}
