package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/sampleweb"
)

// renames are the names that the sample web has to differ in from what the pages show,
// and what a page leaves to its reader (VENUE). The first that fits counts.
func renames(t *testing.T, web *sampleweb.Web, home string) *strings.Replacer {
	checkout, err := filepath.Abs("..")
	require.NoError(t, err)
	truth := web.Truth()
	found := truth.Papers[0]
	for _, p := range truth.Papers {
		if p.Missing == "" && strings.HasSuffix(p.URLs[0], ".pdf") {
			found = p
			break
		}
	}
	ada, jane := truth.Authors[1], truth.Authors[0]
	for _, a := range truth.Authors { // who is on no list of a reader's
		if a.Homepage != "" && !strings.Contains(walkFiles(web)["reading-list.bib"], a.Name) {
			jane = a
		}
	}
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(receiver.Close)
	hook, port := receiver.URL, freePort(t)
	return strings.NewReplacer(
		// What a page says in short, in full, and what another page makes again.
		"bin/starter schedule create conf/webdb --years 1998-2004 --every 30d",
		"bin/starter schedule create conf/sample --every 30d && bin/starter schedule delete conf/sample",
		"starter schedule show | trigger | delete conf/webdb/1998-2004",
		"starter schedule show conf/sample && starter pause schedule/conf/sample && starter resume schedule/conf/sample && starter schedule trigger conf/sample && starter schedule delete conf/sample/1998-2004 && starter schedule delete whitelist",
		"starter blacklist list --plain | add --file FILE | remove --file FILE",
		"starter blacklist add rude.example && starter blacklist list --plain >hosts.txt && starter blacklist add --file hosts.txt && starter blacklist remove --file hosts.txt",
		"starter whitelist show --plain | import FILE",
		"starter whitelist show --plain >list.txt && starter whitelist import list.txt",
		"starter harvest … --again due|none", "starter harvest conf/sample --years 1998-2004 --again due",
		"starter harvest conf/webdb --years …", "starter harvest conf/sample --years 1998-2004",
		"--from DAY --to DAY", "--from 2020-01-01 --to 2100-01-01",
		// Where things are.
		"go build -o bin/", "go build -C "+checkout+" -o "+filepath.Join(home, "bin")+"/",
		"/data/", filepath.Join(home, "data")+"/",
		"/usr/local/share/man/man1", filepath.Join(home, "man"),
		"/etc/bash_completion.d/starter", filepath.Join(home, "starter.bash"),
		"8088/jobs/3", port+"/jobs/1", "8088", port,
		"starter console user add ada  ", "echo a-good-long-password | starter console user add ada ", // who types it
		"https://hooks.library.example/gleaner", hook, "whsec_…", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
		"smtp://user:password@mail.example:587", "", // no mail server is here
		"pass show gleaner/bob", "echo a-good-long-password",
		"-d do=pause", "-d do=pause && starter resume conf/sample/1998-2004", // or what waits for it would for ever
		"-u ada", "-u ada:a-good-long-password",
		"curl -s ", "curl -sS --fail ",
		// Who and what is on the sample web.
		"conf/webdb", "conf/sample", "conf%2Fwebdb", "conf%2Fsample",
		"conf/vldb", "conf/sample2", "VLDB", "SAMPLE2", "very large data bases", "sample systems", "web databases", "sample",
		"https://searx.library.example", sampleweb.SearchURL,
		"'Jane Roe' URL", "'"+jane.Name+"' "+jane.Homepage,
		"Ada Lovelace", ada.Name, "65/2885", ada.PID,
		"Jane Roe", jane.Name, "12/3456", jane.PID,
		"https://www.example.edu/workshop/2003/", ada.Homepage, "https://www.example.edu/workshop/", ada.Homepage,
		"https://www.example.edu/~roe/", jane.Homepage, "https://www.example.com/roe", ada.Homepage,
		"parents URL", "parents $(starter parents --limit 1 | awk 'NR==2 {print $4}')",
		"1f3a9c", found.SHA256[0], "SHA256", found.SHA256[0], "HARVEST", "conf/sample/1998-2004", "VENUE", "conf/sample",
		"explain URL", "explain "+found.URLs[0], "HOST", web.Hosts()[0],
		// The first job is the console's, the second the first import, the ninth the first cleaning.
		"jobs show 3", "jobs show 2", "jobs modify 3", "jobs modify 2", "jobs run 3", "jobs run 2", "cancel 3", "cancel 2", "retry 3", "retry 2",
		"jobs run N", "jobs run 9", "jobs show N --csv FILE", "jobs show 9 --csv cleaning.csv",
	)
}

// walkFiles are the files that a reader has already.
func walkFiles(web *sampleweb.Web) map[string]string {
	var list strings.Builder
	for i, p := range web.Truth().Papers[:3] {
		fmt.Fprintf(&list, "@inproceedings{p%d, title={%s}, author={%s}, year={%d}}\n", i, p.Title, strings.Join(p.Authors, " and "), p.Year)
	}
	return map[string]string{
		"library.csv":        "title,year,author\nA Paper Held Already,2001,Doe\n",
		"reading-list.bib":   list.String(),
		"workshop.bib":       strings.ReplaceAll(list.String(), "year={1998}", "year={2003}"),
		"sample-policy.yaml": "crawl: {retry-base: 100ms}\n",
	}
}

// before is what a reader has done who comes to a command, by how it begins.
var before = map[string]string{
	"starter import crawl.warc.gz":      "starter documents retrieve --state accepted --kind pdf --format warc --out crawl.warc.gz",
	"starter import /data/warcs":        "mkdir -p /data/warcs && cp crawl.warc.gz /data/warcs && cp crawl.warc.gz old.arc.gz && echo rude.example >hosts.txt",
	"starter import /data/mirror":       "mkdir -p /data/mirror/old.example /data/tr /data/files /data/heritrix/job1/logs && starter documents show SHA256 --out - >/data/tr/1.pdf && cp /data/tr/1.pdf /data/mirror/old.example && cp /data/tr/1.pdf /data/files",
	"starter import /data/manifest.csv": "printf 'url,path\\nhttps://www.example.edu/tr/1.pdf,files/1.pdf\\n' >/data/manifest.csv",
	"starter import /data/heritrix":     "cp -r /data/mirror /data/heritrix/job1/ && echo '2005-06-30T12:00:00.000Z 200 100 http://old.example/1.pdf - - application/pdf #001 - - - -' >/data/heritrix/job1/logs/crawl.log",
}

// notHere are the commands that are not run, by how they begin, and why.
var notHere = map[string]string{
	"make demo":                      "is the walk's beginning once more, on servers of its own",
	"make test":                      "runs this test",
	"make build":                     "is followed by what installs for the whole machine",
	"install ":                       "installs for the whole machine",
	"systemctl ":                     "wants systemd; TestUnits reads the units",
	"docker ":                        "wants Docker; TestCompose reads the file",
	"(umask 077; cp deploy":          "is for Docker",
	"go test ":                       "make test runs it",
	"go tool pprof ":                 "wants a profile of a benchmark of minutes",
	"lab ":                           "measures on recorded sites, for minutes",
	"starter import 's3://":          "wants a bucket; TestBucket imports from one",
	"starter import https://":        "wants an archive on the web; TestWebImport imports from one",
	"starter collect":                "wants a web of topics; TestCollectCommands runs each",
	"starter pause math":             "as collect",
	"starter console --listen :8443": "wants a certificate",
}

// staysUp are the commands that are left running, and what they say once they are up.
var staysUp = map[string]string{
	"bin/starter dev":      "data folder",
	"starter dev":          "data folder ",
	"starter console":      "console  http",
	"starter console user": "",
	"bin/worker":           "working",
}

// endsWith are the commands that end with another code than 0.
var endsWith = map[string]string{
	`curl -s localhost:8088/?format=json\&key=KEY`: "22", // shown for a console without users; by now it has one
	// What robots.txt keeps from a crawl may be asked for again where it was met before
	// the crawl had enough; else the command says that there is nothing.
	"starter retry conf/webdb --reason": "0 or 2",
	"starter cancel 3":                  "3", // it has ended
}

func freePort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	return port
}
