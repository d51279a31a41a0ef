//go:build !unix

package bench

type used struct {
	cpu  float64
	peak int64
}

// usage is not known here.
func usage() (own, children used) { return used{}, used{} }
