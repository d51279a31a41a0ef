// Package learn holds a multi-class logistic regression and what is needed to judge
// it: folds, cross-validation, a table of what was taken for what.
//
// It is deterministic: the same examples in the same order give the same model, bit
// for bit, and a model marshals to JSON and back. It holds nothing but its
// parameters, and a trained one is safe for concurrent use.
package learn
