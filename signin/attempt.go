package signin

import (
	"net/netip"
	"time"
)

// Attempt is one sign-in of an account.
type Attempt struct {
	Side    Side
	Account string
	// Address is where it comes from, IPv4 as such.
	Address netip.Addr
	// Methods are keys of second-step methods: before the decision those that
	// the account has set up, after it those that were used.
	Methods []string
}

// CodeRequest asks for a one-time code to be sent.
type CodeRequest struct {
	Account string
	// Purpose is the check that the code is for.
	Purpose Kind
	// Method is the key of the method that sends it, in any case, To where it
	// goes.
	Method, To string
	// Address is where the sign-in comes from, the zero Addr when that is not
	// known.
	Address netip.Addr
}

// SentCode is a code that was sent.
type SentCode struct {
	// ID names the code in the answer, Method is the key of the method that
	// sent it.
	ID, Method string
	Expires    time.Time
}
