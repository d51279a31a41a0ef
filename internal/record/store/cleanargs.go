package store

import (
	"context"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

// cleanArguments cleans single strings, which pgx sends as they are, past any codec;
// what is in lists and in JSON is cleaned by cleanValues. As a tracer it sees the
// arguments of every query just before they are sent.
type cleanArguments struct{}

func (cleanArguments) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	cleanStrings(q.Args)
	return ctx
}

func (cleanArguments) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (cleanArguments) TraceBatchStart(ctx context.Context, _ *pgx.Conn, b pgx.TraceBatchStartData) context.Context {
	for _, q := range b.Batch.QueuedQueries {
		cleanStrings(q.Arguments)
	}
	return ctx
}

func (cleanArguments) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (cleanArguments) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// cleanStrings replaces what Postgres takes in no text, of strings of any type.
func cleanStrings(args []any) {
	for i, a := range args {
		s, is := a.(string)
		if !is {
			v := reflect.ValueOf(a)
			if v.Kind() == reflect.Pointer {
				v = v.Elem() // nothing of nil
			}
			if v.Kind() != reflect.String {
				continue
			}
			s = v.String()
		}
		if strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s) {
			args[i] = string(cleanText([]byte(s)))
		}
	}
}
