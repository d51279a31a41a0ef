package store_test

import (
	"os"
	"testing"

	"gleaner/internal/devstack/devtest"
)

func TestMain(m *testing.M) { os.Exit(devtest.Main(m)) }
