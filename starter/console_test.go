package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/service/program"
	"gleaner/workflows"
)

func TestConsoleUsers(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	add := func(in string, args ...string) error {
		root := newRoot(io.Discard, io.Discard)
		root.SetIn(strings.NewReader(in))
		root.SetArgs(append(append([]string{"console", "user", "add"}, args...), c.args...))
		return root.ExecuteContext(c.t.Context())
	}
	require.NoError(t, add("correct horse battery\n", "ada"))
	require.NoError(t, add("", "bob", "--role", "editor", "--password-file", c.file("password", "another long password\n")))
	require.ErrorIs(t, add("short\n", "cy"), program.ErrUsage)
	require.ErrorIs(t, add("correct horse battery\n", "two words"), program.ErrUsage)
	require.ErrorIs(t, add("correct horse battery\n", "cy", "--role", "owner"), program.ErrUsage)
	require.Error(t, add("", "cy", "correct horse battery"), "a password is no argument")
	require.Regexp(t, `(?s)^USER\s+ROLE\s+ADDED\nada +administrator .*\nbob +editor .*\n$`, c.ok("console", "user", "list"))
	c.wrong(program.ExitUsage, "console", "user", "add", "bob", "--role", "owner")
	require.Contains(t, c.ok("console", "user", "add", "bob", "--role", "reader"), "bob is reader")
	require.NoError(t, add("another long password\n", "bob"), "a new password changes no role")
	require.Regexp(t, `bob +reader`, c.ok("console", "user", "list"))
	require.Contains(t, c.wrong(program.ExitUsage, "console", "user", "remove", "ada"), "the last administrator")
	c.wrong(program.ExitUsage, "console", "user", "add", "ada", "--role", "reader")
	c.ok("console", "user", "add", "bob", "--role", "administrator")
	c.ok("console", "user", "remove", "ada")
	c.wrong(program.ExitUnknown, "console", "user", "remove", "ada")
	var left []struct{ User string }
	c.read(&left, "console", "user", "list")
	require.Len(t, left, 1)
}

func TestConsoleServes(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	require.Contains(t, c.wrong(program.ExitUsage, "console", "--listen", "0.0.0.0:0"), "starter console user add")
	for _, args := range [][]string{{"--listen", "nowhere"}, {"--tls-cert", "x"}, {"--url", "gleaner.library.example"}} {
		c.wrong(program.ExitUsage, append([]string{"console"}, args...)...)
	}
	ctx, end := context.WithCancel(t.Context())
	_, errs, result := c.background(ctx, "console", "--listen", "127.0.0.1:0", "--temporal-ui", "http://127.0.0.1:8233")
	errs.until(t, "console  http://")
	at := regexp.MustCompile(`http://127\.0\.0\.1:\d+/\S+`).FindString(errs.String())
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	res, err := (&http.Client{Jar: jar}).Get(at)
	require.NoError(t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Contains(t, string(body), "No harvest yet")
	end()
	require.Contains(t, []int{program.ExitOK, program.ExitInterrupted}, result())
}

// TestConsoleCancelsAsTheCommandDoes a harvest that runs, and says of one that does
// not that it does not.
func TestConsoleCancelsAsTheCommandDoes(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	server := c.onTemporal()
	id := c.harvestThatWaits(server)
	ctx, end := context.WithCancel(t.Context())
	_, errs, result := c.background(ctx, "console", "--listen", "127.0.0.1:0")
	errs.until(t, "console  http://")
	said := regexp.MustCompile(`(http://127\.0\.0\.1:\d+/)\?(\S+)`).FindStringSubmatch(errs.String())
	asked := func(res *http.Response, err error) string {
		require.NoError(t, err)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, errors.Join(err, res.Body.Close()))
		return string(body)
	}
	post := func(to, form string) string {
		at := said[1] + to + "?format=json&" + said[2]
		return asked(http.Post(at, "application/x-www-form-urlencoded", strings.NewReader(form)))
	}
	const name = "site:https://www.example.edu/workshop/"
	create := "do=create&kind=site&goal=www.example.edu/workshop/&every=30d"
	require.JSONEq(t, `{"name": "`+name+`", "did": "is set up; its next run is in the list"}`, post("schedules", create))
	require.Contains(t, post("harvests", "goal=site:ftp://www.example.edu/"), `"\"ftp://www.example.edu/\" is no address`)
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	asked((&http.Client{Jar: jar}).Get(said[0]))
	require.Contains(t, asked((&http.Client{Jar: jar}).Get(said[1]+"exports/"+url.PathEscape(id)+"?format=csv&year=2001")), "no paper of conf/x was found yet in 2001")

	require.Contains(t, post("lists", "name=own.csv&list=title,year%0AA+Paper+of+Mine,2001%0A"), "A Paper of Mine")
	const prof = "name=Reading+list+of+Prof.+Roe&list=title,year%0A"
	require.Contains(t, post("lists", prof+"A+Paper+of+Mine,2001%0A"), "papers:reading-list-of-prof.-roe")
	require.Contains(t, post("lists", prof+"Another+Paper,2001%0A"), "which has other papers; give this one another name, or replace it in the console")
	require.Contains(t, post("lists", prof+"Another+Paper,2001%0A&replace=yes"), "Another Paper")
	odd := post("lists", "name=odd.csv&list=title,year%0AA+Paper,2001,more%0A")
	require.Contains(t, odd, "odd.csv: line 2")
	require.NotContains(t, odd, os.TempDir())
	require.NoError(t, c.SavePapers(t.Context(), []gleaner.Paper{{Key: "conf/x/P", Venue: "conf/x", Title: "A Paper",
		Year: 2001, Authors: []gleaner.Author{{PID: "7/7", Name: "Jane Roe"}}}}, nil))
	const roe = "people/7%2F7"
	require.Contains(t, post(roe, "do=is&url=http://roe.example/"), "http://roe.example/ is their homepage")
	require.Contains(t, c.ok("homepages", "explain", "Jane Roe"),
		"a person said: http://roe.example/ is their homepage")
	require.Contains(t, post(roe, "do=forget&url=http://roe.example/"), "1 answer taken back")
	require.Contains(t, post(roe, "do=is&url=roe"), "is no address of a page")
	require.Contains(t, post("collections", "name=maths&topics=knots:+knot+theory&size=3"), "is being made")
	require.Contains(t, post("collections", "name=odd&topics=knots&threshold=7"), "threshold: 7 is not")
	require.Contains(t, c.ok("collections", "list"), "maths")
	require.Contains(t, post("collections/maths", "do=cancel"), "is being cancelled")

	cancel := func() string { return post("harvests/"+url.PathEscape(id), "do=cancel") }
	require.Contains(t, cancel(), `is being cancelled"`)
	require.Contains(t, cancel(), "is being cancelled already")
	require.NoError(t, server.SignalWorkflow(t.Context(), workflows.HarvestID(id), "", "end", nil))
	require.NoError(t, server.GetWorkflow(t.Context(), workflows.HarvestID(id), "").Get(t.Context(), nil))
	require.Regexp(t, `(?s)"status": *404.*does not run`, cancel())

	require.Regexp(t, `"there is a schedule `+name+` already`, post("schedules", create))
	require.Contains(t, post("schedules", create[:len(create)-3]+"60d&replace=yes"), "is set up")
	s := answer[scheduled](c.read, "schedule", "show", name)
	require.WithinDuration(t, time.Now().Add(60*24*time.Hour), s.Next[0], 2*time.Hour, "one interval from now")
	require.Contains(t, post("schedules", "do=pause&schedule="+name), "pause")
	require.Contains(t, post("schedules", create[:len(create)-3]+"90d&replace=yes"), "is set up")
	c.read(&s, "schedule", "show", name)
	require.True(t, s.Paused, "replaced or not")
	require.Equal(t, "in the console", s.Note)
	require.Eventually(t, func() bool { // the server lists what it has indexed
		return strings.Contains(asked(http.Get(said[1]+"schedules?format=json&"+said[2])), "90d")
	}, 2*time.Minute, 100*time.Millisecond)
	require.Contains(t, post("schedules", "do=resume&schedule="+name), "goes on")
	require.Contains(t, post("schedules", "do=remove&schedule="+name), "remove")
	require.Contains(t, post("schedules", "do=pause&schedule=conf/none"), "no schedule is called conf/none")
	end()
	require.Contains(t, []int{program.ExitOK, program.ExitInterrupted}, result())
}
