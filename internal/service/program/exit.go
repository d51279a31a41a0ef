package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"gleaner/internal/library/repository"
	"gleaner/internal/metadata/biblio"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
)

// Exit codes, as the help says.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2 // the command line, a setting or a file given is wrong
	ExitUnknown     = 3 // what was named is not known
	ExitUnavailable = 4 // the database or Temporal cannot be reached
	ExitInterrupted = 130
)

// ErrUsage marks errors of the command line.
var ErrUsage = errors.New("wrong usage")

// Unknown marks an error about something that does not exist.
type Unknown struct{ Reason error }

func (u Unknown) Error() string { return u.Reason.Error() }

func (u Unknown) Unwrap() error { return u.Reason }

// Unreachable marks an error of a server that does not answer.
type Unreachable struct{ Reason error }

func (u Unreachable) Error() string { return u.Reason.Error() }

func (u Unreachable) Unwrap() error { return u.Reason }

// ExitCode is what a program ends with after an error, as far as every program's
// errors go.
func ExitCode(err error) int {
	var syntax *biblio.SyntaxError
	var unreachable Unreachable
	var unknown Unknown
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, ErrUsage), errors.Is(err, store.ErrHarvestRuns), errors.Is(err, collections.ErrMade),
		errors.Is(err, app.ErrSettings), errors.Is(err, repository.ErrScheme),
		errors.As(err, new(*pgconn.ParseConfigError)), errors.As(err, &syntax):
		return ExitUsage
	case errors.Is(err, store.ErrNoHarvest), errors.Is(err, store.ErrNoDocument), errors.Is(err, store.ErrNoPaper),
		errors.Is(err, store.ErrNoMatch),
		errors.Is(err, store.ErrNoJob), errors.Is(err, store.ErrNoURL), errors.Is(err, collections.ErrNone), errors.Is(err, store.ErrNoSource), errors.As(err, &unknown):
		return ExitUnknown
	case errors.Is(err, store.ErrUnreachable), errors.Is(err, app.ErrNoDatabase), errors.As(err, &unreachable):
		return ExitUnavailable
	}
	return ExitFailed
}

// Main runs a program until it is done or interrupted, and returns what it ends
// with.
func (p *Program) Main(code func(error) int) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return p.Run(ctx, code)
}

// Run runs a program, prints its error, and returns the exit code that the error
// has.
func (p *Program) Run(ctx context.Context, code func(error) int) int {
	err := p.Root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return ExitOK
	case ctx.Err() != nil:
		return ExitInterrupted
	}
	fmt.Fprintln(p.Err, p.Root.Name()+":", err)
	return code(err)
}
