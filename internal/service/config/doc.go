// Package config is every setting, typed: its name, what it is for, its default
// and its bounds stand beside a field of Config, and Load fills the fields in. A
// flag wins over the environment, the environment over the file, the file over the
// default. What operators seldom touch is Policy, in a file of its own that a
// setting names.
package config
