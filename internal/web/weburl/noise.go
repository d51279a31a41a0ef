package weburl

import "strings"

// minToken is the length from which the value of a short, ambiguous parameter
// ("sid") is taken for a session id rather than for a number of an article.
const minToken = 16

// sessionNames are parameters that name the visit, in any of the servers' ways:
// PHP, Java, ASP, ColdFusion, osCommerce, Zen Cart.
var sessionNames = words("phpsessid jsessionid sessionid session_id cfid cftoken oscsid zenid aspsessionid")

// tokenNames do so when their value looks like a token.
var tokenNames = words("sid s sess session sessid")

// trackingNames are parameters that name the way by which a visitor came.
var trackingNames = words(`fbclid gclid gclsrc dclid gbraid wbraid msclkid yclid ttclid twclid igshid igsh li_fat_id
	mc_cid mc_eid mkt_tok _ga _gl _hsenc _hsmi vero_id oly_enc_id oly_anon_id wickedid s_cid srsltid`)

// isNoise says whether a parameter says nothing of the page.
func isNoise(name, value string) bool {
	if len(name) > 24 {
		return false
	}
	name = strings.ToLower(name)
	switch {
	case strings.HasPrefix(name, "utm_"), strings.HasPrefix(name, "aspsessionid"):
		return true
	case sessionNames[name], trackingNames[name]:
		return true
	}
	return tokenNames[name] && looksLikeToken(value)
}

// looksLikeToken says whether a value is long, of letters and digits, and has
// digits in it.
func looksLikeToken(value string) bool {
	if len(value) < minToken {
		return false
	}
	digits := 0
	for i := 0; i < len(value); i++ {
		c := value[i]
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c|0x20 >= 'a' && c|0x20 <= 'z', c == '-', c == '_', c == ',':
		default:
			return false
		}
	}
	return digits > 2
}

// withoutNoise takes session ids and tracking parameters out of a query and
// keeps the others as they are, in order.
func withoutNoise(query string) string {
	if query == "" {
		return ""
	}
	var kept []byte
	cut := false // something was taken out, kept holds the rest
	for i := 0; i <= len(query); {
		end := strings.IndexByte(query[i:], '&')
		if end < 0 {
			end = len(query)
		} else {
			end += i
		}
		name, value, _ := strings.Cut(query[i:end], "=")
		switch drop := isNoise(name, value); {
		case drop && !cut:
			kept, cut = append(kept, strings.TrimSuffix(query[:i], "&")...), true
		case !drop && cut:
			if len(kept) > 0 {
				kept = append(kept, '&')
			}
			kept = append(kept, query[i:end]...)
		}
		i = end + 1
	}
	if cut {
		return string(kept)
	}
	return query
}

// withoutSession takes session ids out of a path: ";jsessionid=…" after a
// segment (Java servlets), "/(S(…))" as one (ASP.NET).
func withoutSession(path string) string {
	if !needsCare(path) {
		return path
	}
	segments := strings.Split(path, "/")
	kept := segments[:0]
	for i, seg := range segments {
		if i > 0 && i < len(segments)-1 && isCookieless(seg) {
			continue
		}
		kept = append(kept, withoutParameters(seg))
	}
	return strings.Join(kept, "/")
}

// isCookieless knows ASP.NET's "(S(token))" and "(X(1)S(token))".
func isCookieless(seg string) bool {
	if !strings.HasPrefix(seg, "(") || !strings.HasSuffix(seg, "))") {
		return false
	}
	i := strings.Index(seg, "S(")
	return i >= 0 && looksLikeToken(seg[i+2:len(seg)-2])
}

// withoutParameters takes the session parameters off one segment.
func withoutParameters(seg string) string {
	name, rest, ok := strings.Cut(seg, ";")
	if !ok {
		return seg
	}
	out := append(make([]byte, 0, len(seg)), name...)
	for p := range strings.SplitSeq(rest, ";") {
		n, v, _ := strings.Cut(p, "=")
		if !isNoise(n, v) {
			out = append(append(out, ';'), p...)
		}
	}
	return string(out)
}
