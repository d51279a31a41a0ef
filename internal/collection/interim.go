package collection

import "gleaner/internal/document"

func fingerprint(t *document.Text) uint64 { return 0 }
