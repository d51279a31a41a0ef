package ingest

import (
	"fmt"
	"net/url"
	"path"
	"strings"

	"gleaner/internal/ingest/source"
	"gleaner/internal/web/weburl"
)

// The words of a template that stand for a part of a file's path.
const (
	wholePath = "{path}" // below the folder
	fileName  = "{name}" // its last part
	dirPath   = "{dir}"  // what is before that, without a slash at its end
)

// checkTemplate reports what is wrong with a template of URLs.
func checkTemplate(flag, template string, perFile bool) error {
	if template == "" {
		return nil
	}
	made := expand(template, "a/b.pdf")
	if i := strings.IndexAny(made, "{}"); i >= 0 {
		return fmt.Errorf("%w: --%s: %q has a word in brackets that is none of {path}, {dir} and {name}", ErrInput, flag, template)
	}
	if _, err := weburl.Canonical("", made); err != nil {
		return fmt.Errorf("%w: --%s: %q makes %q of the file a/b.pdf, and that is no web address", ErrInput, flag, template, made)
	}
	if perFile && made == expand(template, "a/c.pdf") {
		return fmt.Errorf("%w: --%s: %q makes one address of all files; {path} or {name} tells them apart", ErrInput, flag, template)
	}
	return nil
}

// expand puts a file's path into a template.
func expand(template, name string) string {
	return fill(template, source.Escape(name))
}

func fill(template, escaped string) string {
	dir, base := path.Split(escaped)
	return strings.NewReplacer(wholePath, escaped, fileName, base, dirPath, strings.TrimSuffix(dir, "/")).Replace(template)
}

// served is the web address of a file that was got from an FTP server, by its address
// behind "ftp:".
func served(rest string) string {
	host, file, _ := strings.Cut(strings.TrimPrefix(rest, "//"), "/")
	host = host[strings.LastIndex(host, "@")+1:] // without a user
	return "http://" + strings.TrimSuffix(host, ":21") + "/" + file
}

// mirrorTemplate is that of a mirror, in which the path of a file begins with its host.
const mirrorTemplate = "http://" + wholePath

// mirrored gives the URL of a mirror's file: its path is HOST/PATH, as wget, HTTrack
// and Heritrix write it, or PROTOCOL/HOST/PATH. What stands for a folder has its name
// taken off, and a question mark begins a query. "" is a file of no host.
func mirrored(template, name string) string {
	scheme, rest, _ := strings.Cut(name, "/")
	if scheme != "http" && scheme != "https" {
		scheme, rest = "", name
	}
	host, file, ok := strings.Cut(rest, "/")
	if !ok || !strings.Contains(host, ".") && host != "localhost" || strings.HasPrefix(host, "hts-") {
		return ""
	}
	host = strings.Replace(host, "+", ":", 1) // of wget, for Windows
	file, query, asked := strings.Cut(file, "?")
	if dir, base := path.Split(file); base == "index.html" {
		file = dir
	}
	escaped := host + "/" + mended(file)
	if asked {
		escaped += "?" + mended(query)
	}
	if scheme != "" && template == mirrorTemplate {
		return scheme + "://" + escaped
	}
	return fill(template, escaped)
}

// mended escapes a name as source.Escape does, but for what is escaped in it already:
// crawlers leave those that would mean something else.
func mended(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] == '%' && i+2 < len(name) {
			if _, err := url.PathUnescape(name[i : i+3]); err == nil {
				b.WriteString(name[i : i+3])
				i += 2
				continue
			}
		}
		if strings.IndexByte("/=&", name[i]) >= 0 {
			b.WriteByte(name[i])
			continue
		}
		b.WriteString(url.PathEscape(name[i : i+1]))
	}
	return b.String()
}

// mirrorNames are the paths under which crawlers keep the answer of a URL in a mirror,
// the likeliest first.
func mirrorNames(raw string) (names []string) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return nil
	}
	add := func(host, file string) {
		for _, n := range []string{host + file, strings.TrimPrefix(strings.ToLower(u.Scheme)+"/"+host+file, "/")} {
			if n = path.Clean(n); !strings.HasPrefix(n, "../") {
				names = append(names, n)
			}
		}
	}
	for _, host := range []string{u.Host, u.Hostname()} {
		for _, file := range []string{u.Path, u.EscapedPath()} {
			if file == "" || strings.HasSuffix(file, "/") {
				file += "/index.html"
			}
			if u.RawQuery == "" {
				add(host, file)
				continue
			}
			ext := path.Ext(file)
			add(host, file+"?"+u.RawQuery)
			add(host, strings.TrimSuffix(file, ext)+"?"+u.RawQuery+ext) // of Heritrix
			add(host, file+"?"+u.RawQuery+".html")                      // of wget that adjusts extensions
		}
	}
	return names
}

// wholeRange reports whether a part of a file is all of it: "bytes 0-99/100".
func wholeRange(said string) bool {
	var first, last, all int64
	n, _ := fmt.Sscanf(strings.ToLower(said), "bytes %d-%d/%d", &first, &last, &all)
	return n == 3 && first == 0 && last == all-1
}
