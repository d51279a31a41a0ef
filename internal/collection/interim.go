package collection

import (
	"strings"

	"gleaner/internal/document"
)

type interimFilter struct{}

// NewFilter is the interim rule.
func NewFilter() *interimFilter { return &interimFilter{} }

type interimJudgement struct {
	Class    string
	Score    float64
	Academic bool
	Reasons  []string
}

func (*interimFilter) Judge(t *document.Text, _ document.Hints) interimJudgement {
	s := strings.ToLower(t.String())
	ok := strings.Contains(s, "references") && (strings.Contains(s, "abstract") || strings.Contains(s, "introduction")) && t.PageCount <= 60
	j := interimJudgement{Class: "other", Academic: ok}
	if ok {
		j.Class, j.Score = "paper", 1
	}
	return j
}

func fingerprint(t *document.Text) uint64 { return 0 }
