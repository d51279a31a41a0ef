package store

import (
	"math"
	"strconv"
	"strings"
)

// place is where a host stands in the order in which hosts are crawled.
type place struct {
	turn int    // of a harvest (SitesToCrawl); else 0
	rank int    // of the host's domain (rankSQL)
	host string // where the ranks are the same
}

// unranked is the rank of a host whose domain is on no list.
const unranked = math.MaxInt32

// rankSQL is the rank of a site s: its domain's place on the whitelist, then its
// domain's by F₁. Sites whose domain is on neither come last.
const rankSQL = `coalesce((SELECT min(w.position) FROM whitelist w WHERE w.domain = ANY (` + domainsOf + `)),
	(SELECT 1000000000 + min(d.rank) FROM domains d WHERE d.domain = ANY (` + domainsOf + `)), 2147483647)`

// domainsOf are the names of which one is the domain of a site s: its host's name,
// and what follows each dot in it.
const domainsOf = `ARRAY(SELECT array_to_string(parts[i:], '.') FROM string_to_array(split_part(s.host, ':', 1), '.') parts, generate_subscripts(parts, 1) i)`

// placeOf reads what String wrote; "" is before all. Where there is no rank it is
// that of hosts on no list, and without a turn it is the first.
func placeOf(s string) place {
	if s == "" {
		return place{}
	}
	words := strings.Split(s, " ")
	p := place{rank: unranked, host: words[len(words)-1]}
	if len(words) > 1 {
		p.turn, _ = strconv.Atoi(words[0])
	}
	if len(words) > 2 {
		p.rank, _ = strconv.Atoi(words[1])
	}
	return p
}

// String is the host, before it the turn where that is not 0 and, behind a turn,
// the rank where there is one.
func (p place) String() string {
	switch {
	case p.rank != unranked:
		return strconv.Itoa(p.turn) + " " + strconv.Itoa(p.rank) + " " + p.host
	case p.turn > 0:
		return strconv.Itoa(p.turn) + " " + p.host
	}
	return p.host
}
