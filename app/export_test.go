package app

import "net"

// OTLPAddr is the second address, nil when there is none.
func (a *App) OTLPAddr() net.Addr {
	if len(a.servers) < 2 {
		return nil
	}
	return a.servers[1].Addr()
}
