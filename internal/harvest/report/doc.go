// Package report computes the result of a harvest: recall by year, and for every missing paper
// the reason with its evidence. It reads only the record, at any time, and prints text, JSON, or
// one HTML file with the charts of Zhuang et al. (JCDL 2005), figures 5 to 9.
package report
