package document

import "gleaner/internal/each"

// Kinds are the words for what a file is.
func Kinds() []string {
	return words(PDF, PostScript, DVI, DjVu, HTML, Word, LaTeX, BibTeX, PlainText, Presentation, Spreadsheet, EPUB, XML, Image, Media,
		Gzip, Compress, Bzip2, Zip, Tar, Packed, WebArchive, Empty, Unknown)
}

// Classes are the words for what a document is.
func Classes() []string { return words(Paper, Thesis, Slides, Course, CV, Other) }

// Outcomes are the words for how reading a file ended.
func Outcomes() []string {
	return words(OK, Encrypted, Truncated, EmptyFile, ImageOnly, Garbled, NotADocument, Wall, ErrorPage, Unreadable, Timeout, Stalled, TooLarge, NoReader,
		Unwelcome, SourceOnly, OtherDiscipline)
}

func words[T ~string](all ...T) []string {
	return each.Of(all, func(w T) string { return string(w) })
}
