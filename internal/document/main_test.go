package document

import (
	"os"
	"syscall"
	"testing"

	"gleaner/internal/lab/realdata"
)

func TestMain(m *testing.M) {
	testChild = MaybeRunChild()
	maybeVictim()
	if os.Geteuid() == 0 {
		_ = syscall.Setgroups([]int{0}) // as a login does; later, threads of readers could not
	}
	os.Exit(m.Run())
}

// testChild lets tests read in children, as programs do.
var testChild Child

func goOnly() Options { return Options{PDFToText: "-", PDFInfo: "-", Child: testChild} }

func withPoppler(tb testing.TB) Options {
	tb.Helper()
	o := Options{}
	if NewReader(o).opt.PDFToText == "" {
		realdata.Skip(tb, "poppler's pdftotext is not installed")
	}
	return o
}

func withGhostscript(tb testing.TB, o Options) *Reader {
	tb.Helper()
	r := NewReader(o)
	if r.opt.Ghostscript == "" {
		tb.Skip("ghostscript is not installed")
	}
	return r
}
