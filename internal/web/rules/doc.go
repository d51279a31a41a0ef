// Package rules keeps links out of a crawl, whatever they promise: the ignore and
// allow lists of Zhuang et al. (JCDL 2005, §3.3), with hosts and paths, types of
// files and levels of directories, and the stop directories of Chen's CINDI robot
// (Concordia 2008). It looks at addresses alone.
package rules
