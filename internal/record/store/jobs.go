package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Errors about jobs.
var (
	// ErrNoJob is returned for a number that no job has.
	ErrNoJob = errors.New("no such job")
	// ErrJobRuns: what runs is not changed.
	ErrJobRuns = errors.New("the job is running")
	// ErrJobOver: that run of the job has ended, or the job was begun anew.
	ErrJobOver = errors.New("that run of the job is over")
	// ErrJobMoved: another attempt has gone on with the job.
	ErrJobMoved = errors.New("the job went on without this attempt")
)

// The states of a job.
const (
	JobNew       = "new"
	JobRunning   = "running"
	JobEnded     = "ended"
	JobFailed    = "failed"
	JobCancelled = "cancelled"
)

// The kinds of jobs. An import takes over what another crawler left; all others work on
// what is on record.
const (
	JobImport         = "import"
	JobCleanDocuments = "clean-documents" // those on blacklisted hosts, and those that were not ingested
	JobCleanParents   = "clean-parents"   // pages that lead to files, and are of no use
	JobWhitelist      = "whitelist"       // generate it
	JobRetrieve       = "retrieve"        // documents that meet conditions
)

// Job is work that a person set up and can run again.
type Job struct {
	ID       int64           `json:"id"`
	Kind     string          `json:"kind"`
	Options  json.RawMessage `json:"options"`
	State    string          `json:"state"`
	Note     string          `json:"note,omitempty"` // why it failed or, while it runs, why it waits
	Run      int             `json:"run"`            // 1 is the first
	Done     int64           `json:"done"`           // records, lines or rows that it is through with
	Position json.RawMessage `json:"position"`       // where it goes on
	Counters json.RawMessage `json:"counters"`
	Created  time.Time       `json:"created_at"`
	Started  *time.Time      `json:"started_at"`
	Updated  time.Time       `json:"updated_at"`
	Ended    *time.Time      `json:"ended_at"`
}

const jobColumns = `id, kind, options, state, note, run, done, position, counters, created_at, started_at, updated_at, ended_at`

// AddJob sets up a job.
func (db JobRecords) AddJob(ctx context.Context, kind string, options any) (int64, error) {
	return Get[int64](ctx, db, `INSERT INTO jobs (kind, options) VALUES ($1,$2) RETURNING id`, kind, options)
}

// Job returns a job.
func (db JobRecords) Job(ctx context.Context, id int64) (Job, error) {
	return One(ctx, db, pgx.RowToStructByPos[Job], fmt.Errorf("%d: %w", id, ErrNoJob), `SELECT `+jobColumns+` FROM jobs WHERE id=$1`, id)
}

// Jobs lists all jobs, the latest first.
func (db JobRecords) Jobs(ctx context.Context) ([]Job, error) {
	return List[Job](ctx, db, `SELECT `+jobColumns+` FROM jobs ORDER BY id DESC`)
}

const jobsBeforeSQL = `SELECT ` + jobColumns + ` FROM jobs WHERE $1=0 OR id<$1 ORDER BY id DESC LIMIT $2`

// JobsBefore lists jobs that were set up before one, the latest first; 0 is before none.
func (db JobRecords) JobsBefore(ctx context.Context, id int64, limit int) ([]Job, error) {
	return List[Job](ctx, db, jobsBeforeSQL, id, limit)
}

// ModifyJob gives a job that does not run other options.
func (db JobRecords) ModifyJob(ctx context.Context, id int64, options any) error {
	return db.Tx(ctx, func(tx pgx.Tx) error {
		return changed(ctx, tx, id, `UPDATE jobs SET options=$2, updated_at=now() WHERE id=$1 AND state<>'running'`, options)
	})
}

// RenewJob makes a job that does not run ready to be run from its beginning. What
// its last run noted of each record is forgotten.
func (db JobRecords) RenewJob(ctx context.Context, id int64) error {
	return db.Tx(ctx, func(tx pgx.Tx) error {
		if err := changed(ctx, tx, id, `UPDATE jobs SET state='new', run=run+1, note='', done=0, position='{}', counters='{}', attempts=0, wary=0, started_at=NULL, ended_at=NULL, updated_at=now()
			WHERE id=$1 AND state<>'running'`); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `DELETE FROM import_records WHERE job=$1`, id)
		return err
	})
}

// BeginJob takes up a run of a job, which may be done again. It fails with
// ErrJobOver where that run is.
func (db JobRecords) BeginJob(ctx context.Context, id int64, run int) error {
	return unlessNone(fmt.Errorf("%d, run %d: %w", id, run, ErrJobOver))(db.Pool.Exec(ctx, `UPDATE jobs SET state='running', started_at=coalesce(started_at, now()), updated_at=now()
		WHERE id=$1 AND run=$2 AND state IN ('new', 'running')`, id, run))
}

// EndJob ends a run of a job; one that was ended stays as it is.
func (db JobRecords) EndJob(ctx context.Context, id int64, run int, state, note string) error {
	return db.Exec(ctx, `UPDATE jobs SET state=$3, note=$4, ended_at=now(), updated_at=now() WHERE id=$1 AND run=$2 AND state IN ('new', 'running')`, id, run, state, note)
}

// OpenJobs lists the jobs that have not ended.
func (db JobRecords) OpenJobs(ctx context.Context) ([]Job, error) {
	return List[Job](ctx, db, `SELECT `+jobColumns+` FROM jobs WHERE state IN ('new', 'running') ORDER BY id`)
}

// EndLostJob ends a job that nobody does, where its row is as it was.
func (db JobRecords) EndLostJob(ctx context.Context, j Job, note string) (bool, error) {
	n, err := db.changed(ctx, `UPDATE jobs SET state='failed', note=$4, ended_at=now(), updated_at=now() WHERE id=$1 AND run=$2 AND updated_at=$3 AND state IN ('new', 'running')`, j.ID, j.Run, j.Updated, note)
	return n == 1, err
}

// changed runs an update of a job that does not run, and says why it changed none.
func changed(ctx context.Context, tx pgx.Tx, id int64, sql string, args ...any) error {
	tag, err := tx.Exec(ctx, sql, append([]any{id}, args...)...)
	if err != nil || tag.RowsAffected() > 0 {
		return err
	}
	if _, err = One(ctx, tx, pgx.RowTo[int64], ErrNoJob, `SELECT id FROM jobs WHERE id=$1`, id); err == nil {
		err = ErrJobRuns
	}
	return fmt.Errorf("%d: %w", id, err)
}

// Time is how long a job has run, or ran.
func (j Job) Time(now time.Time) time.Duration {
	switch {
	case j.Started == nil:
		return 0
	case j.Ended != nil:
		return j.Ended.Sub(*j.Started)
	}
	return now.Sub(*j.Started)
}
