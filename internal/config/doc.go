// Package config knows every setting: its name, what it is for, its default,
// and where its value came from. A flag wins over the environment, the
// environment over the file, the file over the default.
package config
