// Package agents lets AI agents use the error records, through the Model Context Protocol
// (MCP): POST /mcp in the service, and "errata mcp" on standard input and output.
//
//	agent ─▶ tool ─▶ request to the administration API, with the agent's own key ─▶ answer
//	                                                        clean, fit into 8 KiB ◀─┘
//
// A tool is nothing but a request to the API. So what a key may see and change is decided
// where it is decided for every other caller, and an audit entry of a change is the same.
//
// What an application sent stands below "from_application" in every answer, without
// characters that hide or imitate something: whoever can send an event can write to the
// agent. An answer is one JSON object of at most MaxAnswer bytes, and says what was cut.
//
// The package must not read records in any other way, and must not know what a scope is.
package agents
