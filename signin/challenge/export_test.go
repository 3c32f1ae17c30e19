package challenge

import "context"

// TryUnlimited answers a challenge past the rates, to see what the challenge
// itself holds.
func (c *Checker) TryUnlimited(ctx context.Context, a Answer) (Verdict, error) {
	return c.try(ctx, codeKey+a.ID, a)
}

// Normalize and Origin for their tests.
var (
	Normalize = normalize
	Origin    = origin
)
