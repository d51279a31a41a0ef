package classify

// Margin is that of a page with these words, before it is scaled.
func (c *Classifier) Margin(words []string) float64 { return c.margin(c.terms(words)) }

// The cost and the exactness of the machine.
const (
	SVMCost      = svmCost
	SVMTolerance = svmTolerance
)

// Vector is how a page with these words is compared.
func (v *Vocabulary) Vector(words []string) map[string]float64 {
	out := map[string]float64{}
	x := v.vector(words)
	for k, i := range x.At {
		out[v.Words[i]] = float64(x.X[k])
	}
	return out
}
