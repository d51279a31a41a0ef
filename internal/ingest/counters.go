package ingest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gleaner/internal/document"
	"gleaner/internal/gleaner"
	"gleaner/internal/library/collection"
	"gleaner/internal/record/store"
)

// Outcomes of a resource. The first eight are CDI's counters; a resource that was
// skipped is in none of them.
const (
	SavedNew           = "saved_New"
	SavedDuplicate     = "saved_Duplicate"
	FilteredMTF        = "filtered_MTF"
	FilteredDCF        = "filtered_DCF"
	FailedTextExtract  = "failed_TextExtract"
	FailedFileNotFound = "failed_FileNotFound"
	FailedPDFNotFound  = "failed_PDFFilenotFound"
	Unexamined         = "unexamined" // kept, and judged later
	Skipped            = "skipped"
)

// Why resources are skipped, beside the status of an answer ("status 404") and
// schemes that have no documents ("dns").
const (
	Damaged       = "damaged"        // a part of the log cannot be read
	Unreadable    = "unreadable"     // the worker may not read the file
	InSegments    = "in segments"    // a part of what is kept in several records
	NoArchive     = "no archive"     // a file that is none
	NoResource    = "no resource"    // an archive of nothing that a crawler got: requests alone, or notes
	Changed       = "changed"        // a file that is another than when its beginning was read
	NoAnswer      = "no answer"      // what is recorded is no answer
	NoWeb         = "no web address" // its URL is none of the web's
	Blacklisted   = "blacklisted"    // its host is
	NoEarlier     = "not on record"  // it was as before, and what was before is no document on record
	Outside       = "outside"        // its path leads out of its folder
	NoFile        = "no file"        // a pipe, a device, a link to a folder
	NestedArchive = "nested archive" // within a folder or another archive: it is imported by its own format
	BadLine       = "bad line"       // a line of a list that says nothing
)

// nothingYet is the Skip of what is no resource: the log says where it is.
const nothingYet = "nothing yet"

// Fatal is the detail of a resource that was given up, since worker after worker ended
// over it.
const Fatal = "its worker ended"

// Counters are CDI's (Wu et al., WIDM 2012, Table 1), with what was passed over. All
// counts the resources that were not.
type Counters struct {
	store.Counters
	Skipped     map[string]int64 `json:"skipped,omitempty"`
	SkippedAll  int64            `json:"skipped_all"`
	Differences int64            `json:"differences"` // found by Verify and before
	Read        int64            `json:"read_bytes"`  // of the log
	Total       int64            `json:"total_bytes"`
	Extent
}

// count counts what became of a resource.
func (c *Counters) count(r *store.ImportRecord) {
	if r.Difference != "" {
		c.Differences++
	}
	if r.Outcome == Skipped {
		skip, _, _ := strings.Cut(r.Detail, ": ")
		if c.Skipped == nil {
			c.Skipped = map[string]int64{}
		}
		c.Skipped[skip]++
		c.SkippedAll++
		return
	}
	c.All++
	for _, n := range map[string][]*int{
		SavedNew:           {&c.SavedNew},
		SavedDuplicate:     {&c.SavedDuplicate},
		FilteredMTF:        {&c.FilteredMTF, &c.Filtered},
		FilteredDCF:        {&c.FilteredDCF, &c.Filtered},
		FailedTextExtract:  {&c.FailedTextExtract},
		FailedFileNotFound: {&c.FailedFileNotFound},
		FailedPDFNotFound:  {&c.FailedPDFNotFound},
		Unexamined:         {&c.Unexamined},
	}[r.Outcome] {
		*n++
	}
}

// unskip takes a resource back that was passed over.
func (c *Counters) unskip(why string) {
	*c = c.clone()
	if c.Skipped[why]--; c.Skipped[why] == 0 {
		delete(c.Skipped, why)
	}
	c.SkippedAll--
}

func (c Counters) clone() Counters {
	c.Skipped = maps.Clone(c.Skipped)
	return c
}

// Place is the number of a resource, of how many where they have been counted, and how
// much of the log has been read.
func (c Counters) Place(number int64) string {
	text := strconv.FormatInt(number, 10)
	if c.Resources > 0 {
		text += fmt.Sprintf(" of %d", max(c.Resources, number))
	}
	if c.Archives > 0 {
		text += fmt.Sprintf(" · archive %d of %d", c.Archive, c.Archives)
	}
	if c.Total > 0 {
		text += fmt.Sprintf(" · %d %%", 100*c.Read/c.Total)
	}
	return text
}

// outcome is what became of a file whose documents were judged: the best of them
// speaks for it.
func outcome(js []collection.Judgement, kind document.Kind, known bool) (outcome, detail, class string) {
	rank := 0
	for _, j := range js {
		o, r := outcomeOf(j, kind, known)
		if r > rank {
			rank, outcome, detail, class = r, o, j.Outcome, j.Class
			if j.Overruled {
				detail += ", rejected before"
			}
		}
	}
	return outcome, detail, class
}

func outcomeOf(j collection.Judgement, kind document.Kind, known bool) (outcome string, rank int) {
	switch {
	case j.State == gleaner.DocumentAccepted && known:
		return SavedDuplicate, 6
	case j.State == gleaner.DocumentAccepted:
		return SavedNew, 6
	case j.State == gleaner.DocumentNew:
		return Unexamined, 5
	case j.State == gleaner.DocumentFailed:
		return FailedFileNotFound, 1
	case j.Class != "":
		return FilteredDCF, 4
	case !slices.Contains(store.ByKind(), j.Outcome):
		return FailedTextExtract, 3
	case kind.IsPacked():
		return FailedPDFNotFound, 2
	}
	return FilteredMTF, 2
}
