package repository

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
)

// TestFullDisk: the kernel's error comes out as ErrFull, and no file stays.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		dir := t.TempDir()
		r := devtest.Must(Open(t.Context(), dir))(t)
		full := fullAfter{n: 100, err: &fs.PathError{Op: "write", Path: "x", Err: cause}}
		err := r.write(t.Context(), file{"documents/aa/bb/y", strings.NewReader("whole")}, file{"documents/aa/bb/x", full})
		require.ErrorIs(t, err, ErrFull)
		require.ErrorIs(t, err, cause)
		require.Equal(t, 1, strings.Count(err.Error(), ErrFull.Error()), err)
		assert.Empty(t, devtest.Must(filepath.Glob(filepath.Join(dir, ".partial", "*")))(t))
		_, err = os.Stat(filepath.Join(dir, "documents"))
		require.ErrorIs(t, err, os.ErrNotExist)
		require.NoError(t, r.Close())
	}
	assert.False(t, errors.Is(typed(fmt.Errorf("other")), ErrFull))
}

// TestInterruptedPutStoresNothing: of a body that ends with an error, or whose context does,
// nothing is stored.
func TestInterruptedPutStoresNothing(t *testing.T) {
	t.Parallel()
	for _, url := range []string{t.TempDir(), "mem://"} {
		r := devtest.Must(Open(t.Context(), url))(t)
		ctx, cancel := context.WithCancel(t.Context())
		for i, end := range []io.Reader{iotest.ErrReader(io.ErrUnexpectedEOF), cancelling{cancel}} {
			body := io.MultiReader(bytes.NewReader(make([]byte, 1<<20)), end)
			err := r.write(ctx, file{Path(strings.Repeat("a", 64)), withContext(ctx, body)})
			require.ErrorIs(t, err, []error{io.ErrUnexpectedEOF, context.Canceled}[i])
		}
		require.NoError(t, r.Walk(t.Context(), func(e Entry) error {
			t.Errorf("stored %+v", e)
			return nil
		}))
		require.NoError(t, r.Close())
	}
}

// cancelling cancels a context in the middle of a body.
type cancelling struct{ cancel func() }

func (c cancelling) Read(p []byte) (int, error) {
	c.cancel()
	return len(p), nil
}

// TestReady: a store that took no file is looked at before the next is fetched,
// and one that did is not.
func TestReady(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), filepath.Join(t.TempDir(), "store")
	r := devtest.Must(Open(ctx, dir))(t)
	unmount := func() { require.NoError(t, os.Rename(dir, dir+".away")) }
	mount := func() { require.NoError(t, os.Rename(dir+".away", dir)) }
	unmount()
	require.NoError(t, r.Ready(ctx), "nobody looks without a reason")
	mount()

	err := r.write(ctx, file{"x", fullAfter{n: 100, err: syscall.ENOSPC}})
	require.ErrorIs(t, err, ErrFull)
	unmount()
	require.Error(t, r.Ready(ctx))
	mount()
	require.NoError(t, r.Ready(ctx), "there is room again")
	left := devtest.Must(filepath.Glob(filepath.Join(dir, ".partial", "*")))(t)
	require.Empty(t, left)
	unmount()
	require.NoError(t, r.Ready(ctx), "it was found to be well")

	require.NoError(t, os.Mkdir(dir, 0o700)) // what is there while nothing is mounted
	away := devtest.Must(Open(ctx, dir))(t)
	away.BelongTo(somebody{})
	_, err = away.Put(ctx, []byte("a document"))
	require.ErrorIs(t, err, ErrAway)
	require.NoError(t, os.Remove(dir), "nothing is left over there")

	big := make([]byte, leastProbe+1)
	r.owner = nobody{}
	_, err = r.Put(ctx, big)
	require.ErrorIs(t, err, ErrAway)
	require.EqualValues(t, len(big), r.refused.Load(), "the probe is as large as the file")
	require.ErrorIs(t, r.Ready(ctx), ErrAway)
	mount()
	require.NoError(t, r.Ready(ctx))
}

// slow is a record without documents that takes its time to say so to the first who
// asks, while others ask, too.
type slow struct {
	nobody
	first chan struct{}
	wait  func()
}

func (s slow) SomeFiles(context.Context) ([]string, error) {
	select {
	case <-s.first:
		s.wait()
	default:
	}
	return nil, nil
}

// TestANewStoreIsMarkedByTwo: who looks at a new store while another marks it does not
// take it for one that went away.
func TestANewStoreIsMarkedByTwo(t *testing.T) {
	t.Parallel()
	r := devtest.Must(Open(t.Context(), filepath.Join(t.TempDir(), "store")))(t)
	first, other := make(chan struct{}, 1), make(chan error, 1)
	first <- struct{}{}
	r.BelongTo(slow{first: first, wait: func() {
		other <- r.There(t.Context())
	}})
	require.NoError(t, r.There(t.Context()))
	require.NoError(t, <-other)
}

// nobody is a record without documents.
type nobody struct{}

func (nobody) RecordID(context.Context) (string, error)    { return "id", nil }
func (nobody) SomeFiles(context.Context) ([]string, error) { return nil, nil }

// somebody is a record with a document.
type somebody struct{ nobody }

func (somebody) SomeFiles(context.Context) ([]string, error) {
	return []string{strings.Repeat("a", 64)}, nil
}

// fullAfter stands for a copy that fails as one to a full disk does.
type fullAfter struct {
	n   int
	err error
}

func (f fullAfter) Read(p []byte) (int, error) {
	return min(f.n, len(p)), f.err
}
