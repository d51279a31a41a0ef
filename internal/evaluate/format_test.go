package evaluate

import "fmt"

func format(f string, a ...any) string { return fmt.Sprintf(f, a...) }
