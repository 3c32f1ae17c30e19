package app

import (
	"context"
	"net"
)

// OTLPAddr is the second address, nil when there is none.
func (a *App) OTLPAddr() net.Addr {
	if len(a.servers) < 2 {
		return nil
	}
	return a.servers[1].Addr()
}

// HoldRecords calls do while no fact is folded into the records.
func (a *App) HoldRecords(ctx context.Context, do func()) error {
	return a.projector.Hold(ctx, func(uint64) error { do(); return nil })
}
