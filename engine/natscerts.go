package engine

import (
	"github.com/errata-log/errata/certs"
)

// NATSFiles are the files with which the embedded NATS speaks TLS.
func (o Options) NATSFiles() certs.Files {
	return certs.Files{Prefix: "nats-tls", Cert: o.NATSTLSCert, Key: o.NATSTLSKey, ClientCA: o.NATSTLSClientCA, Client: o.IsLeaf()}
}

// ClickHouseFiles are the files with which the address for analysts speaks TLS.
func (o Options) ClickHouseFiles() certs.Files {
	return certs.Files{Prefix: "clickhouse-tls", Cert: o.ClickHouseTLSCert, Key: o.ClickHouseTLSKey}
}

// openCertificates lets NATS use the certificate, and take another one that comes into the
// files. nats-server has a reload of its own, which would also look at users and accounts;
// a configuration that is asked at each handshake touches nothing else.
func (e *Engines) openCertificates(cfg *NATSConfig) (err error) {
	files := e.cfg.NATSFiles()
	if files.Cert != "" {
		if e.certs, err = certs.OpenNATS(files, certs.Config{Logger: e.cfg.Logger, Registerer: e.cfg.Registerer}); err != nil {
			return err
		}
		e.certs.Start()
	}
	if !e.cfg.IsLeaf() {
		cfg.TLS = e.certs.Server()
		return nil
	}
	pool, err := certs.Pool(e.cfg.CAFile)
	if err != nil {
		return err
	}
	cfg.Hub.TLS = e.certs.Client(pool)
	return nil
}
