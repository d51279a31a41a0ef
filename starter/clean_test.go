package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/stretchr/testify/require"

	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
)

// tableJobs cleans: first it is told what would go, then that goes and no more. And it
// has workers list documents and generate the whitelist.
func (v *tour) tableJobs() {
	var rejected []store.Listed
	v.read(&rejected, "documents", "list", "--state", "rejected")
	sha := ""
	for _, d := range rejected {
		if d.Paper == "" && d.Removed == nil {
			sha = d.SHA256
		}
	}
	require.NotEmpty(v.t, sha)
	v.must("documents", "mark", "failed", sha)
	list := v.file("would-go.csv")
	var would, did endOfTable
	v.read(&would, "clean", "documents", "--only", "failed", "--csv", list)
	require.Equal(v.t, []any{int64(1), false, store.JobEnded}, []any{would.Looked, would.InPlace, would.State})
	csv, err := os.ReadFile(list)
	require.NoError(v.t, err)
	require.Contains(v.t, string(csv), "n,url,outcome,kind,detail")
	require.Contains(v.t, string(csv), sha)
	v.must("documents", "show", sha, "--out", v.file("still-there"))
	v.must("jobs", "show", fmt.Sprint(would.Job), "--csv", list)
	v.read(&did, "jobs", "run", fmt.Sprint(would.Job), "--confirm", "--wait")
	require.True(v.t, did.InPlace)
	would.InPlace, would.Seconds, did.Seconds = true, 0, 0
	require.Equal(v.t, would, did, "what went is what was told")
	if did.Documents > 0 {
		_, code := v.do("documents", "show", sha)
		require.Equal(v.t, program.ExitUnknown, code, "it is off the record")
	}
	var parents, sample, lists endOfTable
	list = v.file("parenturl.revised.csv")
	v.read(&parents, "clean", "parents", "--revised", list)
	require.Positive(v.t, parents.Looked)
	csv, err = os.ReadFile(list)
	require.NoError(v.t, err)
	require.Contains(v.t, string(csv), "url,md5,first_crawl,last_crawl,documents")
	require.Equal(v.t, parents.Looked-parents.Parents, int64(strings.Count(string(csv), "\n")-1))
	require.Contains(v.t, v.must("clean", "parents"), "\na dry run: nothing was changed")
	v.read(&sample, "documents", "retrieve", "--job", "--kind", "pdf", "--sample", "3", "--out", v.file("copies"))
	require.Equal(v.t, int64(3), sample.Documents)
	v.must("jobs", "modify", fmt.Sprint(sample.Job), "--set", "sample=2")
	v.read(&sample, "jobs", "run", fmt.Sprint(sample.Job), "--wait")
	require.Equal(v.t, int64(2), sample.Documents)
	v.read(&lists, "whitelist", "generate", "--job")
	require.Positive(v.t, lists.Whitelist.URLs)
	require.Contains(v.t, v.must("jobs", "list"), "kind=pdf sample=2 seed=1")
	for args, code := range map[string]int{"cancel 99": program.ExitUnknown, fmt.Sprintf("cancel %d", sample.Job): program.ExitUnknown, "clean documents --only some": program.ExitUsage,
		fmt.Sprintf("jobs modify %d --set size=1", sample.Job): program.ExitUsage, fmt.Sprintf("jobs run %d --confirm", sample.Job): program.ExitUsage} {
		_, got := v.do(strings.Fields(args)...)
		require.Equal(v.t, code, got, args)
	}
}
