package collections

// heapOf is a heap (container/heap) of what knows its own place in it.
type heapOf[T placed[T]] []T

type placed[T any] interface {
	before(T) bool
	at() *int // its place; -1 where it is in no heap
}

func (q heapOf[T]) Len() int           { return len(q) }
func (q heapOf[T]) Less(i, j int) bool { return q[i].before(q[j]) }
func (q heapOf[T]) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	*q[i].at(), *q[j].at() = i, j
}

// Push is for package heap.
func (q *heapOf[T]) Push(x any) {
	t := x.(T)
	*t.at() = len(*q)
	*q = append(*q, t)
}

// Pop is for package heap.
func (q *heapOf[T]) Pop() any {
	old := *q
	t := old[len(old)-1]
	*t.at() = -1
	*q = old[:len(old)-1]
	return t
}
