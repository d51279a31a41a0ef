// Package catalogues stands in for the outside catalogues in tests: it answers
// in their recorded shapes for a catalogue that the test makes, under their
// public host names, with paging, faults and a log of every request. Nothing of
// it touches the network: Client's transport calls the handlers directly, so a
// test may run it on a virtual clock (testing/synctest).
//
//	s := catalogues.New(catalogue)
//	s.Fail(catalogues.Fault{Host: "dblp.org", Every: 50, Status: 503, RetryAfter: 20 * time.Second})
//	d := metadata.NewDBLP(metadata.Config{HTTPClient: s.Client()})
//	… ; gap := s.Pace("dblp.org").MinGap
package catalogues
