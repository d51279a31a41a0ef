// Package report says what a harvest came to: recall by year, and for every
// missing paper why it is missing, with the evidence. It is computed from the
// record alone, at any time, and printed as text, JSON, or one HTML file with
// the charts of Zhuang et al. (JCDL 2005), figures 5 to 9.
package report
