package challenge

import "context"

// TryUnlimited answers a challenge past the rates, to see what the challenge
// itself holds.
func (c *Checker) TryUnlimited(ctx context.Context, a Answer) (Verdict, error) {
	return c.try(ctx, codeKey+a.ID, a)
}

// Enrolled says whether an account has a confirmed app.
func (c *Checker) Enrolled(ctx context.Context, account string) (bool, error) {
	e, found, err := c.enrolment(ctx, account)
	return found && e.Confirmed, err
}

// Normalize and Origin for their tests.
var (
	Normalize = normalize
	Origin    = origin
)
