package certs

import (
	"cmp"
	"context"
	"crypto/tls"
)

// OpenFiles reads a certificate from files, and reads it again when they change, from
// Start on. The error for files that cannot be used says what to do.
func OpenFiles(files Files, cfg Config) (*Certificates, error) {
	c := &Certificates{cfg: cfg.withDefaults()}
	last, err := files.read()
	if err != nil {
		return nil, err
	}
	if err := c.use(files, last); err != nil {
		return nil, err
	}
	c.ask.Every = cmp.Or(cfg.Every, lookEvery)
	c.ask.Do = func(context.Context) error {
		c.tellEnd()
		next, err := files.read()
		if err == nil && next.equal(last) && c.refused.Load() == nil {
			return nil
		}
		if err == nil {
			err = c.use(files, next)
		}
		switch {
		case err == nil:
			last = next
		case c.refuse(err):
			c.cfg.Logger.Warn("a new certificate cannot be used; the one before stays in use", "error", err)
		}
		return nil
	}
	return c, nil
}

// use shows what stands in the files, unless it cannot be used.
func (c *Certificates) use(files Files, now contents) error {
	pair, clientCAs, err := files.parse(now, c.cfg.Now())
	if err != nil {
		return err
	}
	c.accept()
	c.show([]tls.Certificate{pair}, clientCAs)
	return nil
}
