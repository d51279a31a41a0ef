package repository

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"golang.org/x/sync/errgroup"

	"gleaner/internal/devstack/devtest"
)

// killed is a file whose writer is killed within a record, n bytes before its end.
func killed(t *testing.T, r *Repository, host string, n int64) {
	c := devtest.Must(r.CrawlFile(t.Context(), host, "a test"))(t)
	for i := range 3 {
		require.NoError(t, c.WriteItem(Item{URL: fmt.Sprintf("http://%s/%d", host, i), Status: 200}, bytes.Repeat([]byte{byte(i)}, 1000)))
	}
	size := devtest.Must(c.file.Seek(0, io.SeekEnd))(t)
	require.NoError(t, c.file.Truncate(size-n))
	require.NoError(t, c.file.Close())
}

// records counts what a file has of records that are whole; one that is not is an error.
func records(t *testing.T, data []byte) (n int) {
	z := devtest.Must(gzip.NewReader(bytes.NewReader(data)))(t)
	all, err := io.ReadAll(z)
	require.NoError(t, err, "the file is whole")
	return strings.Count(string(all), "WARC-Type: response")
}

// stored are the files that the store has of a host, by name.
func stored(t *testing.T, r *Repository, host string) map[string][]byte {
	all := map[string][]byte{}
	for it := r.bucket.List(&blob.ListOptions{Prefix: crawlKey(host, "")}); ; {
		o, err := it.Next(t.Context())
		if err == io.EOF {
			return all
		}
		require.NoError(t, err)
		all[path.Base(o.Key)], err = r.bucket.ReadAll(t.Context(), o.Key)
		require.NoError(t, err)
	}
}

// TestKilledCrawlFile: of a file whose writer was killed within a record what is put
// away is whole, and has each record before that.
func TestKilledCrawlFile(t *testing.T) {
	for _, where := range []string{"file://" + t.TempDir(), "mem://"} {
		t.Setenv("TMPDIR", t.TempDir())
		r := devtest.Must(Open(t.Context(), where))(t)
		for _, n := range []int64{1, 7, 20, 0} {
			killed(t, r, "a.example", n)
		}
		c := devtest.Must(r.CrawlFile(t.Context(), "a.example", "a test"))(t)
		require.NoError(t, c.Close(t.Context()))
		got := stored(t, r, "a.example")
		require.Len(t, got, 5)
		n := 0
		for name, data := range got {
			require.True(t, strings.HasSuffix(name, ".warc.gz"), name)
			n += records(t, data)
		}
		require.Equal(t, 3*2+3, n)
		require.NoError(t, r.Close())
	}
}

// TestUnreadableCrawlFile: what a dead worker left and nobody can read is set aside, and
// keeps no other crawl from its file.
func TestUnreadableCrawlFile(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, where := range []string{"file://" + t.TempDir(), "mem://"} {
		r := devtest.Must(Open(t.Context(), where))(t)
		killed(t, r, "a.example", 3)
		first := devtest.Must(r.CrawlFile(t.Context(), "a.example", "a test"))(t)
		require.Empty(t, first.Aside)
		bad := filepath.Join(filepath.Dir(first.path), "bad.warc.gz")
		require.NoError(t, os.Mkdir(bad+openSuffix, 0o700))
		require.NoError(t, first.Close(t.Context()))
		for _, aside := range [][]string{{bad + ".unreadable"}, nil} {
			c := devtest.Must(r.CrawlFile(t.Context(), "a.example", "a test"))(t)
			require.Equal(t, aside, c.Aside)
			require.NoError(t, c.Close(t.Context()))
		}
		require.NoError(t, os.Remove(bad+".unreadable"))
		require.NoError(t, r.Close())
	}
}

// TestSetAsideBeforeAnError: files that were set aside are named, also where the file
// behind them cannot be put away now: the next sweep does not find them any more.
func TestSetAsideBeforeAnError(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	r := devtest.Must(Open(t.Context(), "mem://"))(t)
	killed(t, r, "b.example", 3)
	dir := devtest.Must(r.crawlFolder(t.Context(), "a.example"))(t)
	bad := filepath.Join(dir, "0.warc.gz")
	require.NoError(t, os.Mkdir(bad+openSuffix, 0o700))
	require.NoError(t, r.bucket.Close())
	_, err := r.CrawlFile(t.Context(), "a.example", "a test")
	require.ErrorContains(t, err, bad+".unreadable")
}

// TestCrawlsMeetAnUnreadableFile: of crawls that begin together one sets it aside, and
// all have their files.
func TestCrawlsMeetAnUnreadableFile(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	r := devtest.Must(Open(t.Context(), "mem://"))(t)
	killed(t, r, "a.example", 3)
	first := devtest.Must(r.CrawlFile(t.Context(), "a.example", "a test"))(t)
	dir := filepath.Dir(first.path)
	require.NoError(t, first.Close(t.Context()))
	for round := range 20 {
		for n := range 5 {
			require.NoError(t, os.Mkdir(filepath.Join(dir, fmt.Sprint("bad", round, "-", n, ".warc.gz")+openSuffix), 0o700))
		}
		var aside atomic.Int32
		var g errgroup.Group
		for range 8 {
			g.Go(func() error {
				c, err := r.CrawlFile(t.Context(), "a.example", "a test")
				if err != nil {
					return err
				}
				aside.Add(int32(len(c.Aside)))
				return c.Close(t.Context())
			})
		}
		require.NoError(t, g.Wait())
		require.EqualValues(t, 5, aside.Load())
	}
	require.NoError(t, r.Close())
}

// TestAFullDiskIsNoUnreadableFile: the file is good, and is put away once there is room.
func TestAFullDiskIsNoUnreadableFile(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		err := unreadable(&fs.PathError{Op: "truncate", Path: "x", Err: cause})
		require.ErrorIs(t, err, ErrFull)
		require.NotErrorIs(t, err, errUnreadable)
	}
	require.ErrorIs(t, unreadable(syscall.EIO), errUnreadable)
}

// TestLivingCrawlFile: a file whose writer lives, and was only thought dead, is left to
// it.
func TestLivingCrawlFile(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	without := func(*os.File) error { return syscall.ENOLCK }
	for _, lock := range []func(*os.File) error{flock, without} {
		for _, where := range []string{"file://" + t.TempDir(), "mem://"} {
			r := devtest.Must(Open(t.Context(), where))(t)
			r.lock = lock
			late := devtest.Must(r.CrawlFile(t.Context(), "a.example", "a test"))(t)
			next := devtest.Must(r.CrawlFile(t.Context(), "a.example", "a test"))(t)
			for _, c := range []*CrawlFile{late, next} {
				require.NoError(t, c.WriteItem(Item{URL: "http://a.example/", Status: 200}, []byte("body")))
				require.NoError(t, c.Close(t.Context()))
			}
			got := stored(t, r, "a.example")
			require.Len(t, got, 2)
			for _, data := range got {
				require.Equal(t, 1, records(t, data))
			}
			require.NoError(t, r.Close())
		}
	}
}

// TestCrawlFilesOfOtherHosts: where files wait on this machine for a bucket, those of a
// host that is not crawled again are put there with the next of any host.
func TestCrawlFilesOfOtherHosts(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	r := devtest.Must(Open(t.Context(), "mem://"))(t)
	killed(t, r, "gone.example", 3)
	c := devtest.Must(r.CrawlFile(t.Context(), "a.example", "a test"))(t)
	require.Len(t, stored(t, r, "gone.example"), 1)
	require.NoError(t, c.Close(t.Context()))
	require.Empty(t, devtest.Must(filepath.Glob(filepath.Join(os.TempDir(), "gleaner-warc", "*", "*")))(t))
	require.NoError(t, r.Close())
}
