package housetest

import (
	"fmt"
	"path/filepath"
	"testing"
)

// TestMigrationsAreNumberedInTurn: two of one number, which two branches may well
// bring, open no database.
func TestMigrationsAreNumberedInTurn(t *testing.T) {
	all, err := filepath.Glob(filepath.Join(root(t), "internal/record/store/migrations/*.sql"))
	if err != nil || len(all) == 0 {
		t.Fatal("no migrations", err)
	}
	for i, path := range all {
		if name := filepath.Base(path); name[:5] != fmt.Sprintf("%04d_", i+1) {
			t.Errorf("%s: want number %d", name, i+1)
		}
	}
}
