package source

import "strings"

// PasswordOf is what a server is told of a user. A password that is a table as programs
// for FTP keep it (.netrc: machine HOST login USER password WORD) is of those users of those
// servers alone; any other is of whatever user an address names.
func (l Logins) PasswordOf(host, user string) string {
	words := netrcWords(l.Password)
	if len(words) < 2 || words[0] != "machine" && words[0] != "default" {
		return l.Password
	}
	var at, login string
	for i := 0; i < len(words); i++ {
		if words[i] == "default" {
			at, login = host, user
			continue
		}
		if i++; i == len(words) {
			break
		}
		switch words[i-1] {
		case "machine":
			at, login = words[i], user // of any user, where none is named
		case "login":
			login = words[i]
		case "password":
			if strings.EqualFold(at, host) && login == user {
				return words[i]
			}
		}
	}
	return ""
}

// netrcWords are parted by blanks; one in double quotes may hold some, and quotes and
// backslashes after a backslash.
func netrcWords(s string) (words []string) {
	var word strings.Builder
	in, quoted, after := false, false, false
	for _, r := range s {
		switch {
		case after:
			word.WriteRune(r)
			after = false
		case quoted && r == '\\':
			after = true
		case r == '"' && (quoted || !in):
			in, quoted = true, !quoted
		case !quoted && strings.ContainsRune(" \t\r\n", r):
			if in {
				words = append(words, word.String())
				word.Reset()
			}
			in = false
		default:
			in = true
			word.WriteRune(r)
		}
	}
	if in {
		words = append(words, word.String())
	}
	return words
}
