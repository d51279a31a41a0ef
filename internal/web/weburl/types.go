package weburl

import "strings"

// documentTypes are the files that a paper comes as: those that Zhuang et al.
// (JCDL 2005, section 3.3), Wu et al. (WebSci 2012) and CINDI (section 4) took,
// and their later kin. EPS is a figure, LaTeX a source, PPT slides.
var documentTypes = words("pdf ps dvi djvu djv doc docx rtf odt")

// packed are the suffixes of one compressed file.
var packed = words("gz z bz2 xz zip")

// archives are suffixes of many files in one.
var archives = words("zip tar tgz tbz tbz2 txz taz gz z bz2 xz zst lz lzma rar 7z jar war ear cab iso dmg deb rpm " +
	"apk msi whl gem egg crx xpi vsix img vdi vmdk ova warc arc")

// ignoredTypes are files that neither are papers nor lead to any.
var ignoredTypes = func() map[string]bool {
	all := words(
		// images and drawings
		"png jpg jpeg jpe gif bmp tif tiff ico icns svg svgz webp avif heic psd ai eps fig xcf pbm pgm ppm xbm xpm raw " +
			// sound and film
			"mp3 mp2 wav ogg oga flac aac m4a mid midi ra ram au aif aiff wma mp4 m4v mpg mpeg mpe avi mov qt wmv flv swf webm mkv ogv 3gp vtt srt " +
			// styles, scripts, fonts
			"css less scss js mjs map wasm ttf otf woff woff2 eot " +
			// programs and their sources
			"exe dll so dylib o a bin class pyc pkl c cc cpp cxx h hh hpp java py ipynb rb pm rs go hs ml mli scala kt swift f f90 m r lisp " +
			"el sh bat ps1 patch diff tex sty cls bst bib ris enw " +
			// data and tables
			"csv tsv dat data json jsonl geojson xls xlsx ods db sqlite mat npy npz h5 hdf5 arff parquet pcap log sql yaml yml toml ini cfg conf " +
			// slides
			"ppt pptx pps ppsx key odp " +
			// feeds, calendars, cards, schemas
			"rss atom rdf xml xsd xsl xslt dtd ics vcf vcard torrent sig asc md5 sha1 sha256 crt pem")
	for ext := range archives {
		all[ext] = true
	}
	return all
}()

// scriptTypes answer with what their query names.
var scriptTypes = words("php php3 php4 php5 phtml asp aspx ashx jsp jspa do cgi pl cfm action dll exe")

// words makes a set.
func words(list string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}

// Extension is the lower-case type in the name of what a URL names: "pdf",
// "ps.gz", "tar.gz", "html"; "" if there is none. The query is not looked at,
// but where a script (or a name without a type) is told which document to
// serve: "pdf" for /download.php?file=x.pdf. A name that is all digits after
// its dot (arXiv's 1203.1234) has no type.
func Extension(canonical string) string {
	_, path, query := split(canonical)
	ext := extensionOf(path[strings.LastIndexByte(path, '/')+1:])
	if query != "" && (ext == "" || scriptTypes[ext]) {
		if hint := queryDocument(query); hint != "" {
			return hint
		}
	}
	return ext
}

// extensionOf is the type in a file's name.
func extensionOf(name string) string {
	for strings.HasSuffix(name, "%20") {
		name = name[:len(name)-len("%20")]
	}
	name, _, _ = strings.Cut(name, ";")
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return ""
	}
	ext := strings.ToLower(name[dot+1:])
	if !isExtension(ext) {
		return ""
	}
	if packed[ext] {
		inner := strings.LastIndexByte(name[:dot], '.')
		if inner >= 0 {
			if in := strings.ToLower(name[inner+1 : dot]); documentTypes[in] || in == "tar" || in == "eps" {
				return in + "." + ext
			}
		}
	}
	return ext
}

// isExtension says whether s may name a type: one to five letters and digits,
// not digits alone.
func isExtension(s string) bool {
	if s == "" || len(s) > 5 && s != "geojson" && s != "parquet" && s != "sqlite" && s != "torrent" && s != "action" {
		return false
	}
	letters := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z':
			letters++
		case c >= '0' && c <= '9':
		default:
			return false
		}
	}
	return letters > 0
}

// queryDocument is the type of the document that a query names by its file, or
// "".
func queryDocument(query string) string {
	for p := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
		if _, value, ok := strings.Cut(p, "="); ok {
			p = value
		}
		p = p[strings.LastIndexByte(p, '/')+1:]
		if ext := extensionOf(p); isDocumentType(ext) {
			return ext
		}
	}
	return ""
}

// isDocumentType knows "pdf" and "pdf.gz".
func isDocumentType(ext string) bool {
	inner, outer, both := strings.Cut(ext, ".")
	return documentTypes[inner] && (!both || packed[outer])
}

// IsDocumentName says whether a URL is named like a file that can be a paper:
// PDF, PostScript, DVI, DjVu, Word, RTF, ODT, plain or compressed one by one.
// Archives of many files are not.
func IsDocumentName(canonical string) bool { return isDocumentType(Extension(canonical)) }

// IsSourceName says whether a URL is named like a source in which a paper may be
// written: LaTeX or XML. They are ignored types, since most are not.
func IsSourceName(canonical string) bool {
	ext := Extension(canonical)
	return ext == "tex" || ext == "xml"
}

// IsIgnoredType says whether a URL is named like a file that neither is a paper
// nor leads to one: images, sound, film, archives, programs, styles, fonts,
// data, slides, feeds.
func IsIgnoredType(canonical string) bool {
	ext := Extension(canonical)
	if isDocumentType(ext) {
		return false
	}
	if inner, outer, both := strings.Cut(ext, "."); both {
		return ignoredTypes[inner] || archives[outer]
	}
	return ignoredTypes[ext]
}
