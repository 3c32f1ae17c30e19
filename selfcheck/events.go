package selfcheck

import "context"

type stretch struct{}

func (c *Checker) countEvents(context.Context) error { return nil }
