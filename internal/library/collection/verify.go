package collection

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"gleaner/internal/gleaner"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/store"
)

// Difference is a difference between the record and the repository.
type Difference struct {
	SHA256 string `json:"sha256"`
	What   string `json:"what"`
	Detail string `json:"detail"`
}

// Kinds of differences.
const (
	NoFile     = "no file"     // a row without its blob
	NoRow      = "no row"      // a blob without its row
	WrongSize  = "wrong size"  // the size of the blob differs from the row's
	Corrupt    = "corrupt"     // the digest of the blob differs from its name
	NoText     = "no text"     // the text is in the row, and beside the file is none, or one that cannot be read
	NoMeta     = "no metadata" // judged, but without JSON beside the file
	NoPlace    = "no place"    // a document without a place
	NoOriginal = "no primary"  // a copy of a missing document
	TwoCurrent = "two current" // two documents are current at one URL
	LeftOver   = "left over"   // the blob of a row that an interrupted prune marked as removed
)

// Verified counts what Verify compared.
type Verified struct {
	Files  int   `json:"files"`
	Rows   int   `json:"rows"`
	Bytes  int64 `json:"bytes"`
	Pruned int   `json:"pruned"` // rows whose file was removed on purpose, which is no difference
}

// inFlight is the age up to which a blob may have no row yet.
const inFlight = 10 * time.Minute

// Verify walks the repository and the record side by side, both ways, and tells
// of every difference. deep reads every text, and every file, which it compares with its name.
// progress is told how many rows were compared; of how many (0) is not known before the end.
func Verify(ctx context.Context, db store.DocumentRecords, repo *repository.Repository, deep bool, tell func(Difference), progress func(rows, of int)) (Verified, error) {
	v := &verifier{db: db, repo: repo, deep: deep, tell: tell, progress: progress}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	next, stop := iter.Pull2(entries(ctx, repo))
	defer stop()
	entry, err, ok := next()
	advance := func() { entry, err, ok = next() }
	walk := func(k store.Known) error {
		for ok && err == nil && entry.SHA256 < k.SHA256 {
			v.unnamed(ctx, entry)
			advance()
		}
		if err != nil {
			return err
		}
		var has *repository.Entry
		if ok && entry.SHA256 == k.SHA256 {
			e := entry
			has = &e
			defer advance()
		}
		return v.row(ctx, k, has)
	}
	if err := db.EachKnown(ctx, walk); err != nil {
		return v.seen, err
	}
	for ; ok && err == nil; advance() {
		v.unnamed(ctx, entry)
	}
	if err != nil {
		return v.seen, err
	}
	lost, err := db.LostPrimaries(ctx)
	for _, sha := range lost {
		tell(Difference{sha, NoOriginal, "it is said to be the same as a document that is missing or a copy itself"})
	}
	if err != nil || !deep {
		return v.seen, err
	}
	rivals, err := db.Rivals(ctx)
	for _, r := range rivals {
		tell(Difference{r.SHA256, TwoCurrent, "at " + r.URL + "; the next crawl that fetches it settles which"})
	}
	return v.seen, err
}

// entries returns Walk as an iterator.
func entries(ctx context.Context, repo *repository.Repository) iter.Seq2[repository.Entry, error] {
	return func(yield func(repository.Entry, error) bool) {
		stopped := errors.New("stopped")
		err := repo.Walk(ctx, func(e repository.Entry) error {
			if !yield(e, nil) {
				return stopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, stopped) {
			yield(repository.Entry{}, err)
		}
	}
}

type verifier struct {
	db   store.DocumentRecords
	repo *repository.Repository
	deep bool
	tell func(Difference)
	seen Verified

	progress func(rows, of int)
}

func (v *verifier) unnamed(ctx context.Context, e repository.Entry) {
	v.seen.Files++
	v.seen.Bytes += e.Size
	if time.Since(e.Modified) < inFlight {
		return
	}
	// The row may be newer than the list of rows.
	if _, _, err := v.db.Document(ctx, e.SHA256); err == nil {
		return
	}
	v.tell(Difference{e.SHA256, NoRow, fmt.Sprintf("%d bytes of %s; a crash between file and row leaves it, and the next attempt names it", e.Size, e.Modified.UTC().Format(time.RFC3339))})
}

func (v *verifier) row(ctx context.Context, k store.Known, e *repository.Entry) error {
	v.seen.Rows++
	v.progress(v.seen.Rows, 0)
	if k.Places == 0 {
		v.tell(Difference{k.SHA256, NoPlace, "no location names it"})
	}
	if e == nil {
		if k.Removed {
			v.seen.Pruned++
			return nil
		}
		// The file may be newer than the list of its folder.
		if stored, err := v.repo.Exists(ctx, k.SHA256); err != nil || stored {
			return err
		}
		v.tell(Difference{k.SHA256, NoFile, "state " + string(k.State)})
		return nil
	}
	v.seen.Files++
	v.seen.Bytes += e.Size
	if k.Removed {
		v.tell(Difference{k.SHA256, LeftOver, "prune, or a crawl that brought it back, was stopped half-way; the next of either mends it"})
		return nil
	}
	if e.Size != k.Bytes {
		v.tell(Difference{k.SHA256, WrongSize, fmt.Sprintf("%d bytes, and should have %d", e.Size, k.Bytes)})
	}
	if v.deep {
		err := v.repo.Check(ctx, k.SHA256)
		if errors.Is(err, repository.ErrCorrupt) {
			v.tell(Difference{k.SHA256, Corrupt, err.Error()})
		} else if err != nil {
			return err
		}
	}
	if k.State != gleaner.DocumentAccepted && k.State != gleaner.DocumentRejected {
		return nil
	}
	text, meta, err := v.repo.Sidecars(ctx, k.SHA256)
	if err != nil {
		return err
	}
	if text && v.deep {
		_, err := v.repo.GetText(ctx, k.SHA256)
		if errors.Is(err, repository.ErrAway) || errors.Is(err, repository.ErrForeign) || ctx.Err() != nil {
			return err
		} else if err != nil {
			v.tell(Difference{k.SHA256, NoText, "it cannot be read: " + err.Error() + "; starter documents rejudge writes it"})
		}
	}
	if k.HasText && !text {
		v.tell(Difference{k.SHA256, NoText, "starter documents rejudge writes it"})
	}
	if !meta {
		v.tell(Difference{k.SHA256, NoMeta, "starter documents rejudge writes it"})
	}
	return nil
}
