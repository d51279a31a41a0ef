package synthesis

import (
	"gleaner/internal/classify"
	"gleaner/internal/record/collections"
	"gleaner/internal/topic"
)

// LayerExamples are what the second layer is learnt from.
func LayerExamples(f *topic.Filter, pages []collections.Linked, threshold float64) []classify.Example {
	return (&contextGraph{filter: f}).examples(pages, threshold)
}

// Anchors are the words of links that are learnt.
var Anchors = anchors
