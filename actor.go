package errata

import "context"

// Actor is who asked for a change, as the audit trail tells it. It travels with
// the change: on the log, so that no crash can separate the two.
type Actor struct {
	// KeyID and KeyName are those of the API key; KeyID is "host" for a
	// command on the machine itself and "service" for what Errata does alone.
	KeyID   string `json:"key_id"`
	KeyName string `json:"key_name,omitempty"`
	// IP is the caller's address, "" when there is none.
	IP string `json:"ip,omitempty"`
	// Route is the method and the path's pattern, Scope what it asked for.
	Route string `json:"route,omitempty"`
	Scope string `json:"scope,omitempty"`
	// RequestID ties the change to the lines of the service's own log.
	RequestID string `json:"request_id,omitempty"`
}

// Actors that are no API keys.
const (
	ActorHost    = "host"
	ActorService = "service"
)

type actorKey struct{}

// WithActor returns a context in which changes are made in the actor's name.
func WithActor(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorOf is in whose name changes are made: the service's own when the
// context names nobody.
func ActorOf(ctx context.Context) Actor {
	if a, ok := ctx.Value(actorKey{}).(Actor); ok {
		return a
	}
	return Actor{KeyID: ActorService}
}
