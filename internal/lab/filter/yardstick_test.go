package filter

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gleaner/internal/document"
	"gleaner/internal/lab/realdata"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shipped are the weights that come with the program.
var shipped = filepath.Join("..", "..", "document", "filter.json")

// trained is a filter from the labelled documents as a reader reads them; its report is
// printed.
func trained(t *testing.T, opt document.Options) *document.FilterModel {
	m, report, err := Train(t.Context(), Options{
		Dir: realdata.Path(t, "farm"), Labels: realdata.Path(t, "truth", "labels.tsv"),
		Published: realdata.Path(t, "data", "classifier", "train_str_f43_paper.arff"),
		Reader:    document.NewReader(opt), Command: "lab train filter --dir DIR --labels LABELS --published ARFF",
	})
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, report.Write(&b))
	t.Log("\n" + b.String())
	return m
}

// TestYardstickFilterWithRecognition is the same where pages of pictures, and of letters
// that cannot be told, are recognised.
func TestYardstickFilterWithRecognition(t *testing.T) {
	realdata.Path(t, "farm")
	opt := document.Options{OCR: true}
	if !document.NewReader(opt).Recognises() {
		realdata.Skip(t, "tesseract is not installed")
	}
	assert.GreaterOrEqual(t, trained(t, opt).Figures.Accuracy, 0.97)
}

// TestYardstickFilter trains on the labelled documents, prints the report and
// compares with the weights in the repository. GLEANER_UPDATE=1 writes them.
func TestYardstickFilter(t *testing.T) {
	m := trained(t, document.Options{})
	assert.GreaterOrEqual(t, m.Figures.Accuracy, 0.95)
	if os.Getenv("GLEANER_UPDATE") != "" {
		var out bytes.Buffer
		enc := json.NewEncoder(&out)
		enc.SetIndent("", " ")
		require.NoError(t, enc.Encode(m))
		require.NoError(t, os.WriteFile(shipped, out.Bytes(), 0o644))
		return
	}
	raw, err := os.ReadFile(shipped)
	require.NoError(t, err)
	var was document.FilterModel
	require.NoError(t, json.Unmarshal(raw, &was))
	assert.InDelta(t, was.Figures.Accuracy, m.Figures.Accuracy, 0.005, "the shipped weights are stale")
}
