// Package seeds finds where the crawl of a topic may begin in the dump of a web
// directory: the Seed Finder of the CINDI robot (Chen, Concordia 2008). A dump lists
// web pages by category; those of the categories that bear a topic's name, or that the
// topic names, are its seeds (Find).
//
// Each reads tables (CSV, tab-separated) with a header, packed with gzip or not, one entry
// at a time whatever the file's size.
package seeds
