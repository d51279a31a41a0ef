// Package console is the web page in which people work with the record: harvests
// and their progress, papers and why they are missing, sites, documents, lists and
// figures. What a page shows is JSON for programs at the same address, as
// openapi.json describes; who changes a type that a page shows writes it anew
// (TestOpenAPI says how). Whatever strangers wrote is text here: html/template
// escapes it, and no script or style but the console's own is run.
package console
