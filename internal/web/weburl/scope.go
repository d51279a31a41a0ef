package weburl

import (
	"slices"
	"strings"
)

// peopleDirs are directories whose next segment names a person.
var peopleDirs = words(`people person persons faculty staff members member users user home homes homepages homepage
	personal profile profiles students student grads phd researchers team authors personen mitarbeiter personnel
	perso personal-pages academics academic-staff professors professor alumni`)

// innerNames are pages and directories inside a person's pages, never the name
// of the person.
var innerNames = words(`about aboutme about-me bio biography cv vita resume contact home homepage main welcome me
	research publications publication publist pubs pub papers paper projects teaching talks news blog links
	software publikationen veroeffentlichungen articles index default`)

// PathPrefix is the scope of a homepage on its host: the path under which that
// person's (or project's) pages lie, as InScope takes it.
//
//   - a user's directory is a scope as a whole, whatever page of it was given:
//     /~ada/pubs/2003.html → /~ada/
//   - so is what follows a directory of people: /people/faculty/ada/cv.html →
//     /people/faculty/ada/
//   - an index page stands for its directory: /ada/index.html → /ada/
//   - pages and directories that every homepage has inside are left out:
//     /ada/publications.html → /ada/, /about.html → /
//   - any other page stands for itself and what begins with its name:
//     /people/ada.html → /people/ada, which holds /people/ada/x.html and
//     /people/ada-pubs.html but not /people/adam.html
//   - where a script is told whose page to show, the query belongs to the scope:
//     /person.php?id=12 → /person.php?id=12
//
// A result that ends in "/" is a directory; "/" is the whole host.
func PathPrefix(canonical string) string {
	_, path, query := split(canonical)
	path = withoutIndex(foldSlashes(path))
	segments := strings.Split(path, "/")[1:] // the last is a file, "" in a directory
	if i := userAt(segments); i >= 0 {
		return within(segments, i)
	}
	if query != "" && !strings.HasSuffix(path, "/") {
		return path + "?" + query
	}
	if i := personAt(segments); i >= 0 && i < len(segments)-1 {
		return within(segments, i)
	}
	return withoutInner(segments)
}

// DirectoryPrefix is the scope of a site that a person named by a page of it, as InScope
// takes it: the page's directory, which the page is itself where it is named like
// none (/~ada is /~ada/). A page in the host's root that is not its index, and one
// that a script makes, stand for themselves, since the host may be everybody's.
func DirectoryPrefix(canonical string) string {
	_, path, query := split(canonical)
	path = withoutIndex(foldSlashes(path))
	at := strings.LastIndexByte(path, '/') + 1
	file := path[at:]
	stem, _, named := strings.Cut(file, ".")
	switch {
	case query != "" && file != "":
		return path + "?" + query
	case at == 1 && named:
		return "/" + stem
	case file != "" && !named:
		return path + "/"
	}
	return path[:at]
}

// PagePrefix is the scope of a page alone, as InScope takes it, with what goes on with its
// name: /group/pubs.html → /group/pubs, which holds /group/pubs/2003.html and
// /group/pubs-2003.html; an index page is /group/index.
func PagePrefix(canonical string) string {
	_, path, query := split(canonical)
	path = withoutIndex(foldSlashes(path))
	at := strings.LastIndexByte(path, '/') + 1
	stem, _, _ := strings.Cut(path[at:], ".")
	switch {
	case query != "":
		return path + "?" + query
	case stem == "":
		return path[:at] + "index"
	}
	return path[:at] + stem
}

// UserDirectory is the directory of one user of a host that a URL or path lies in,
// whatever they have below it: /~ada/, or what follows a directory of people. It is
// "" where there is none.
func UserDirectory(canonical string) string {
	_, path, _ := split(canonical)
	segments := strings.Split(foldSlashes(path), "/")[1:]
	i, person := userAt(segments), personAt(segments)
	if person >= 0 && person < len(segments)-1 && (i < 0 || person < i) {
		i = person
	}
	if i < 0 {
		return ""
	}
	return within(segments, i)
}

// within is the directory that a path's i-th segment is.
func within(segments []string, i int) string { return "/" + strings.Join(segments[:i+1], "/") + "/" }

// userAt finds the segment that names a user by "~", or -1.
func userAt(segments []string) int {
	return slices.IndexFunc(segments, func(seg string) bool { return len(seg) > 1 && seg[0] == '~' })
}

// personAt finds the segment that follows directories of people, or -1.
func personAt(segments []string) int {
	for i, seg := range segments {
		if !peopleDirs[strings.ToLower(seg)] {
			continue
		}
		for i++; i < len(segments) && peopleDirs[strings.ToLower(segments[i])]; i++ {
		}
		if i < len(segments) && segments[i] != "" {
			return i
		}
		return -1
	}
	return -1
}

// withoutInner cuts inner pages and directories off the end of a path, and the
// extension off what is left.
func withoutInner(segments []string) string {
	file := segments[len(segments)-1]
	dirs := segments[:len(segments)-1]
	stem, _, _ := strings.Cut(file, ".")
	if stem != "" && !innerNames[strings.ToLower(stem)] {
		return "/" + strings.Join(append(dirs[:len(dirs):len(dirs)], stem), "/")
	}
	for len(dirs) > 0 && innerNames[strings.ToLower(dirs[len(dirs)-1])] {
		dirs = dirs[:len(dirs)-1]
	}
	return "/" + strings.Join(append(dirs[:len(dirs):len(dirs)], ""), "/")
}

// InScope says whether a URL lies under one of the prefixes that PathPrefix
// gave for pages of the same host. The host is not looked at. No prefixes means
// no scope, and so false.
func InScope(canonical string, prefixes []string) bool {
	_, path, query := split(canonical)
	path = foldSlashes(path)
	whole := path
	if query != "" {
		whole += "?" + query
	}
	for _, p := range prefixes {
		if p == "" {
			continue
		}
		if p[len(p)-1] == '/' && !strings.Contains(p, "?") {
			if strings.HasPrefix(path, p) || path == p[:len(p)-1] {
				return true
			}
			continue
		}
		if strings.HasPrefix(whole, p) && (len(whole) == len(p) || !isWordByte(whole[len(p)])) {
			return true
		}
	}
	return false
}

// isWordByte says whether a name goes on with c.
func isWordByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '%'
}

// Above is the directory, ending in "/", that a file or a directory of a path or
// URL lies in.
func Above(of string) string {
	return of[:strings.LastIndexByte(strings.TrimSuffix(of, "/"), '/')+1]
}
