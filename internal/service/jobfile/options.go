package jobfile

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"gleaner/internal/harvest/tables"
	"gleaner/internal/ingest"
	"gleaner/internal/record/store"
)

// Options are the options of a job of any kind.
type Options struct {
	Import ingest.Options // of an import
	Table  tables.Options // of any other job
	kind   string
}

// New returns the options that a job of a kind has where none is given.
func New(kind string) *Options { return &Options{kind: kind, Table: tables.Defaults(kind)} }

// Of returns the options of a job.
func Of(job store.Job) (*Options, error) {
	o := New(job.Kind)
	return o, json.Unmarshal(job.Options, o.ofKind())
}

// Modify changes the options of a job that does not run.
func Modify(ctx context.Context, db store.JobRecords, id int64, change func(store.Job, *Options) error) error {
	job, err := db.Job(ctx, id)
	if err != nil {
		return err
	}
	o, err := Of(job)
	if err == nil {
		err = change(job, o)
	}
	if err == nil {
		err = o.Check()
	}
	if err != nil {
		return err
	}
	return db.ModifyJob(ctx, id, o)
}

func (o *Options) ofKind() any {
	if o.kind == store.JobImport {
		return &o.Import
	}
	return &o.Table
}

// MarshalJSON implements json.Marshaler: the options are kept as those of their kind alone.
func (o *Options) MarshalJSON() ([]byte, error) { return json.Marshal(o.ofKind()) }

// Fields are the names of the options of a kind that forms and files have. That a cleaning
// removes what it lists is in neither, nor are the paths of an import.
func Fields(kind string) []string {
	if kind == store.JobImport {
		return ingest.Fields()
	}
	return slices.DeleteFunc(slices.Clone(tables.Fields(kind)), func(name string) bool { return name == "confirm" })
}

// Get is an option as Set takes it, "" where that is the default.
func (o *Options) Get(name string) string {
	if o.kind == store.JobImport {
		return o.Import.Get(name)
	}
	return o.Table.Get(name)
}

// Set sets an option by its name.
func (o *Options) Set(name, value string) error {
	if o.kind == store.JobImport && slices.Contains(ingest.Fields(), name) {
		return o.Import.Set(name, value)
	}
	return o.Table.Set(o.kind, name, value) // an import has no other option
}

// SetGiven sets those of Fields that are given.
func (o *Options) SetGiven(given func(name string) (string, bool)) error {
	for _, name := range Fields(o.kind) {
		if v, ok := given(name); ok {
			if err := o.Set(name, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// Check reports what is wrong with the options.
func (o *Options) Check() error {
	if o.kind == store.JobImport {
		return o.Import.Check()
	}
	return o.Table.Check()
}

// To is where copies of documents go.
func (o *Options) To() *string {
	if o.kind == store.JobImport {
		return &o.Import.To
	}
	return &o.Table.To
}

// Describe says in a line what the job does.
func (o *Options) Describe() string {
	if o.kind == store.JobImport {
		return strings.Join(o.Import.Paths, ", ")
	}
	return o.Table.Describe(o.kind)
}

// Counters are what a job of any kind came to.
type Counters struct {
	Import ingest.Counters // of an import
	Table  tables.Counters // of any other job
}

// Counted returns what a job came to; zero where nothing is known yet.
func Counted(job store.Job) (c Counters) {
	if job.Kind == store.JobImport {
		_ = json.Unmarshal(job.Counters, &c.Import)
	} else {
		_ = json.Unmarshal(job.Counters, &c.Table)
	}
	return c
}

// Taken is how many documents, places and pages a job saved, retrieved or removed, or would.
func (c Counters) Taken() int64 {
	return int64(c.Import.SavedNew+c.Import.SavedDuplicate) + c.Table.Documents + c.Table.Places + c.Table.Parents
}
