package main

import (
	"os"
	"testing"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/document"
)

func TestMain(m *testing.M) {
	document.MaybeRunChild()
	os.Exit(devtest.Main(m))
}
