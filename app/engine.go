package app

import "github.com/errata-log/errata/engine"

// FindEngine says where the parts of the embedded ClickHouse are that a
// service with these options would run. The error says what to do about one
// that is missing.
func FindEngine(o Options) (string, error) { return engine.Find(o.EngineBinary, o.LibCHDB) }

// LogRoom says what the embedded log of these options may grow to (0 when the
// service decides by the room on the disk), what it uses, and how much of its
// disk is free, in bytes.
func LogRoom(o Options) (limit, used, free int64, err error) {
	used, free, err = engine.LogRoom(o.Data)
	return o.LogMaxBytes, used, free, err
}
