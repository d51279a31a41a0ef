// Package text makes what people wrote in different ways comparable: titles, names,
// TeX. It knows nothing of papers and pages.
package text
