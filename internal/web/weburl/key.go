package weburl

import (
	"slices"
	"strings"
)

// Key is the identity of a canonical URL, of the form host/path?query without a
// scheme: http and https of one host are one, doubled slashes too, index pages
// are their directory, parameters are sorted by name, and a web server's
// listing of a directory is one whatever it is sorted by.
func Key(canonical string) string {
	host, path, query := split(canonical)
	path = withoutIndex(foldSlashes(path))
	if query = sortQuery(query); query != "" {
		query = "?" + query
	}
	return host + path + query
}

// foldSlashes makes one slash of many.
func foldSlashes(path string) string {
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	return path
}

// withoutIndex cuts the name of an index page off its directory.
func withoutIndex(path string) string {
	slash := strings.LastIndexByte(path, '/')
	if slash < 0 || !isIndex(path[slash+1:]) {
		return path
	}
	return path[:slash+1]
}

// isIndex says whether a file name is one that servers answer a directory with.
func isIndex(name string) bool {
	return len(name) < 16 && indexNames[strings.ToLower(name)]
}

var indexNames = words("index.html index.htm index.shtml index.xhtml index.php index.php3 index.php4 index.php5 " +
	"index.phtml index.asp index.aspx index.jsp index.cgi default.html default.htm default.asp default.aspx")

// sortQuery sorts parameters by name; those of one name keep their order, which
// may mean something.
func sortQuery(query string) string {
	if isListing(query) {
		return ""
	}
	if strings.IndexByte(query, '&') < 0 {
		return query
	}
	params := strings.Split(query, "&")
	params = slices.DeleteFunc(params, func(p string) bool { return p == "" })
	slices.SortStableFunc(params, func(a, b string) int {
		na, _, _ := strings.Cut(a, "=")
		nb, _, _ := strings.Cut(b, "=")
		return strings.Compare(na, nb)
	})
	return strings.Join(params, "&")
}

// isListing knows the queries by which Apache's directory listings are sorted:
// "C=N;O=D" (2.x) and "N=D" (1.3).
func isListing(query string) bool {
	if len(query) == 3 && query[1] == '=' {
		return strings.IndexByte("NMSD", query[0]) >= 0 && (query[2] == 'A' || query[2] == 'D')
	}
	return len(query) == 7 && strings.HasPrefix(query, "C=") && strings.IndexByte("NMSD", query[2]) >= 0 &&
		(query[3] == ';' || query[3] == '&') && query[4:6] == "O=" && (query[6] == 'A' || query[6] == 'D')
}
