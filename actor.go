package errata

import "context"

// Actor is who made a change, for the audit trail. It stands in the same fact on
// the log as the change, so that a crash cannot separate the two.
type Actor struct {
	// KeyID and KeyName are those of the API key. KeyID is "host" for a command
	// on the machine itself and "service" for what Errata does by itself.
	KeyID   string `json:"key_id"`
	KeyName string `json:"key_name,omitempty"`
	// IP is the caller's address, "" when there is none.
	IP string `json:"ip,omitempty"`
	// Route is the method and the pattern of the path, Scope the scope it needs.
	Route string `json:"route,omitempty"`
	Scope string `json:"scope,omitempty"`
	// RequestID is in the service's own log lines about the request too.
	RequestID string `json:"request_id,omitempty"`
}

// The values of KeyID that are no API keys.
const (
	ActorHost    = "host"
	ActorService = "service"
)

type actorKey struct{}

// WithActor returns a context in which changes are made in the actor's name.
func WithActor(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorOf is the actor of the context, the service itself when it has none.
func ActorOf(ctx context.Context) Actor {
	if a, ok := ctx.Value(actorKey{}).(Actor); ok {
		return a
	}
	return Actor{KeyID: ActorService}
}
