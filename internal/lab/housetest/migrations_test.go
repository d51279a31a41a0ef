package housetest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMigrationsAreNumberedInTurn: two of one number, which two branches may well
// bring, open no database.
func TestMigrationsAreNumberedInTurn(t *testing.T) {
	all, err := filepath.Glob(filepath.Join(root(t), "internal/record/store/migrations/*.sql"))
	require.NoError(t, err, "no migrations")
	require.NotEmpty(t, all, "no migrations")
	for i, path := range all {
		assert.Equal(t, fmt.Sprintf("%04d_", i+1), filepath.Base(path)[:5])
	}
}

var (
	indexMade   = regexp.MustCompile(`(?is)\bCREATE\s+(?:UNIQUE\s+)?INDEX\s+(CONCURRENTLY\b)?.*?\sON\s+(?:ONLY\s+)?(\w+)`)
	indexBeside = regexp.MustCompile(`(?i)\bCREATE\s+(?:UNIQUE\s+)?INDEX\s+CONCURRENTLY\s+(\w+)`)
	// What rewrites a table, reads all of it under a lock, or holds a lock for others' work.
	rewritten = regexp.MustCompile(`(?i)\bALTER\s+(?:COLUMN\s+)?\w+\s+(?:SET\s+DATA\s+)?TYPE\b|\bSET\s+NOT\s+NULL\b|\bLOCK\s+TABLE\b|` +
		`\bADD\s+(?:CONSTRAINT|CHECK|FOREIGN|PRIMARY|UNIQUE|EXCLUDE)\b|\bUPDATE\s+(?:ONLY\s+)?sites\b`)
	dropped    = regexp.MustCompile(`(?i)\bDROP\s+(?:TABLE|COLUMN)\b`)
	lastUsedIn = regexp.MustCompile(`-- last used in (\S+)`)
)

// hindering says what of a migration stops workers at an upgrade: an index over a table with
// rows shuts writers out unless it is made concurrently, and then what an interrupted attempt
// left of it is dropped first; what the release before reads or writes may be dropped by a
// later one alone, which names the last that used it.
func hindering(sql, changelog string) string {
	up, _, _ := strings.Cut(sql, "-- +goose Down")
	for _, m := range indexMade.FindAllStringSubmatch(up, -1) {
		made := regexp.MustCompile(`(?i)\bCREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?` + m[2] + `\b`)
		if m[1] == "" && !made.MatchString(up) {
			return "an index of " + m[2] + " is made without CONCURRENTLY"
		}
	}
	for _, m := range indexBeside.FindAllStringSubmatchIndex(up, -1) {
		// It waits for old transactions by a lock that holds nobody up, for as long as a dump lasts.
		drop := "SET lock_timeout = 0;\nDROP INDEX CONCURRENTLY IF EXISTS " + up[m[2]:m[3]] + ";"
		if !strings.Contains(up[:m[0]], drop) || !strings.Contains(up[m[0]:], "\nSET lock_timeout = '1s';") {
			return "an index that an interruption leaves invalid is not made again, or is begun anew each second; want after it SET lock_timeout = '1s', and before it: " + drop
		}
	}
	for _, m := range rewritten.FindAllStringIndex(up, -1) {
		if statement, _, _ := strings.Cut(up[m[0]:], ";"); !strings.Contains(strings.ToUpper(statement), "NOT VALID") {
			return "it holds a lock that workers need for longer than a moment: " + statement
		}
	}
	last := lastUsedIn.FindStringSubmatch(up)
	if dropped.MatchString(up) && (last == nil || !strings.Contains(changelog, "## "+last[1])) {
		return "it drops what the release before may use; want: -- last used in RELEASE"
	}
	return ""
}

// TestMigrationsHinderNobody from the first upgrade on.
func TestMigrationsHinderNobody(t *testing.T) {
	const remade = "DROP INDEX CONCURRENTLY IF EXISTS a;\nCREATE INDEX CONCURRENTLY a ON urls (host);"
	const patient = "SET lock_timeout = 0;\n" + remade + "\nSET lock_timeout = '1s';"
	for sql, want := range map[string]bool{
		"CREATE INDEX a ON urls (host);":                            true,
		"create unique index a\non urls (host);":                    true,
		"CREATE INDEX CONCURRENTLY a ON urls (host);":               true,
		"CREATE INDEX CONCURRENTLY IF NOT EXISTS a ON urls (host);": true,
		remade:  true,
		patient: false,
		"CREATE TABLE new (a int);\nCREATE INDEX b ON new (a);":                false,
		"ALTER TABLE urls ALTER COLUMN host TYPE bytea;":                       true,
		"ALTER TABLE urls ALTER host SET NOT NULL;":                            true,
		"ALTER TABLE urls ADD CONSTRAINT a CHECK (host <> '');":                true,
		"ALTER TABLE urls ADD CONSTRAINT a CHECK (host <> '') NOT VALID;":      false,
		"UPDATE sites SET host = lower(host);":                                 true,
		"LOCK TABLE urls;":                                                     true,
		"ALTER TABLE urls DROP COLUMN host;":                                   true,
		"-- last used in 0.1\nDROP TABLE old;":                                 false,
		"-- last used in 0.2\nDROP TABLE old;":                                 true,
		"ALTER TABLE urls ADD COLUMN a int;\n-- +goose Down\nDROP TABLE urls;": false,
	} {
		require.Equal(t, want, hindering(sql, "## 0.1\n") != "", sql)
	}
	all, err := filepath.Glob(filepath.Join(root(t), "internal/record/store/migrations/*.sql"))
	require.NoError(t, err)
	changelog := content(t, "CHANGELOG.md")
	for _, path := range all[1:] {
		sql, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Empty(t, hindering(string(sql), changelog), path)
	}
}
