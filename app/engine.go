package app

import "github.com/errata-log/errata/engine"

// FindEngine says where the parts of the embedded ClickHouse are that a
// service with these options would run. The error says what to do about one
// that is missing.
func FindEngine(o Options) (string, error) { return engine.Find(o.EngineBinary, o.LibCHDB) }
