package store

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// cleanValues makes a connection take whatever pages, files and services say.
// Postgres takes no NUL and no broken UTF-8 in text, and no half of a surrogate in
// JSON; it would fail the transaction at each new attempt, and with it all else
// that it writes: what the crawl of a site learnt, an author's decision. So these
// are replaced where every value passes, in what is looked for, too.
func cleanValues(conn *pgx.Conn) {
	types := conn.TypeMap()
	text := &pgtype.Type{Name: "text", OID: pgtype.TextOID, Codec: cleanCodec{pgtype.TextCodec{}, cleanText}}
	for _, t := range []*pgtype.Type{
		text,
		{Name: "_text", OID: pgtype.TextArrayOID, Codec: &pgtype.ArrayCodec{ElementType: text}},
		{Name: "json", OID: pgtype.JSONOID, Codec: cleanCodec{&pgtype.JSONCodec{Marshal: json.Marshal, Unmarshal: json.Unmarshal}, cleanJSON}},
		{Name: "jsonb", OID: pgtype.JSONBOID, Codec: cleanCodec{&pgtype.JSONBCodec{Marshal: json.Marshal, Unmarshal: json.Unmarshal}, cleanJSON}},
	} {
		types.RegisterType(t)
	}
}

// cleanCodec cleans what another codec encodes.
type cleanCodec struct {
	pgtype.Codec
	clean func([]byte) []byte
}

func (c cleanCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	plan := c.Codec.PlanEncode(m, oid, format, value)
	if plan == nil {
		return nil
	}
	return cleanPlan{plan, c.clean}
}

type cleanPlan struct {
	pgtype.EncodePlan
	clean func([]byte) []byte
}

func (p cleanPlan) Encode(value any, buf []byte) ([]byte, error) {
	begins := len(buf)
	buf, err := p.EncodePlan.Encode(value, buf)
	if err != nil || buf == nil {
		return buf, err
	}
	return append(buf[:begins], p.clean(buf[begins:])...), nil
}

// cleanText returns UTF-8 with U+FFFD for each NUL and for what is none.
func cleanText(b []byte) []byte {
	if !utf8.Valid(b) {
		b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	}
	if bytes.IndexByte(b, 0) < 0 {
		return b
	}
	return bytes.ReplaceAll(b, []byte{0}, []byte("\uFFFD"))
}

// cleanJSON returns JSON in UTF-8 with U+FFFD for each escaped NUL, and for each
// half of a surrogate that has no other.
func cleanJSON(b []byte) []byte {
	if !utf8.Valid(b) {
		b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	}
	if !bytes.Contains(b, []byte(`\u`)) {
		return b
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		if b[i] != '\\' || i+1 == len(b) {
			out, i = append(out, b[i]), i+1
			continue
		}
		switch n := escaped(b[i:]); {
		case n >= 0xD800 && n < 0xDC00 && pairs(b[i+6:]):
			out, i = append(out, b[i:i+12]...), i+12
		case n == 0, n >= 0xD800 && n < 0xE000:
			out, i = append(out, "\uFFFD"...), i+6
		default: // with what is escaped, so that it begins no escape itself
			out, i = append(out, b[i], b[i+1]), i+2
		}
	}
	return out
}

// pairs reports whether b begins with the second half of a surrogate.
func pairs(b []byte) bool {
	n := escaped(b)
	return n >= 0xDC00 && n < 0xE000
}

// escaped is the code that b begins with as \uXXXX, -1 if with none.
func escaped(b []byte) int {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	if n, err := strconv.ParseUint(string(b[2:6]), 16, 16); err == nil {
		return int(n)
	}
	return -1
}

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

// HarvestsUnderWay lists the harvests under way that want a site.
func (db HarvestRecords) HarvestsUnderWay(ctx context.Context, siteID int) ([]string, error) {
	return Column[string](ctx, db, `SELECT h.id FROM harvests h JOIN harvest_sites hs ON hs.harvest_id=h.id
		WHERE hs.site_id=$1 AND h.completed_at IS NULL AND NOT h.cancelled`, siteID)
}

// HarvestBytes is how much the crawls of a harvest's sites have brought since it began. It
// reads as many rows as the harvest has sites.
func (db HarvestRecords) HarvestBytes(ctx context.Context, harvest string) (int64, error) {
	return Get[int64](ctx, db, `SELECT coalesce(sum(s.crawl_bytes), 0)::bigint FROM harvests h JOIN harvest_sites o ON o.harvest_id=h.id
			JOIN sites s ON s.id=o.site_id AND s.crawl_started >= h.started_at WHERE h.id=$1`, harvest)
}
