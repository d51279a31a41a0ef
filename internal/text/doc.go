// Package text makes what people wrote in different ways comparable. It knows
// nothing of papers and pages.
package text
