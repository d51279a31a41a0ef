package store

// publishedSQL is how many pages a paper p has in print, by what its source says
// ("12-34", "205:1-205:23"); null where that is a first page alone, or no number.
const publishedSQL = `(SELECT CASE WHEN b.last - b.first < 400 THEN b.last - b.first + 1 END
	FROM (SELECT r[1]::int AS first, r[2]::int AS last FROM regexp_match(p.pages, '^\s*(?:\w{1,9}:)?[a-zA-Z]?(\d{1,7})\s*[-–—]+\s*(?:\w{1,9}:)?[a-zA-Z]?(\d{1,7})\s*$') r) b
	WHERE b.last >= b.first)`

// farOffSQL is by how many pages a document d is longer or shorter than its paper p is
// in print. Less than half of that and more than twice it say only that it is another
// form of the work; where either is not known, or that is so, all are alike.
const farOffSQL = `(SELECT CASE WHEN d.pages BETWEEN (n.pages+1)/2 AND 2*n.pages THEN abs(d.pages - n.pages) ELSE 1000 END FROM (SELECT ` + publishedSQL + ` AS pages) n)`

// bestFirst orders documents d, at locations l, of one paper p that they match by m, or
// of one text: what a person said, what still stands where it was found, accepted,
// read whole, PDF before PostScript, of the length that was printed, the surer match,
// the published form, the longer.
const bestFirst = `coalesce(m.settled, '')='yes' DESC, coalesce(l.current, false) DESC, d.state='accepted' DESC, d.outcome='ok' DESC,
	d.kind='pdf' DESC, d.kind='postscript' DESC, ` + farOffSQL + `,
	array_position(ARRAY['exact','strong','ambiguous','different'], m.verdict), array_position(ARRAY['paper','preprint','extended','slides','poster'], m.form),
	d.pages DESC, d.words DESC, d.bytes DESC, d.sha256, m.score DESC NULLS LAST, p.key, l.url COLLATE "C"`

// besideSQL is what bestFirst asks of a document d beside itself.
const besideSQL = ` LEFT JOIN locations l ON l.sha256=d.sha256 LEFT JOIN matches m ON m.sha256=d.sha256 AND ` + FoundSQL + ` LEFT JOIN papers p ON p.key=m.paper_key `
