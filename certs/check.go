package certs

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	errata "github.com/errata-log/errata"
)

// renewHint says what to do about a certificate that ends.
const renewHint = "see that whatever renews it still runs and writes to the same files, or with ACME that the log has no warnings of it; the service takes a new one by itself"

// Check says until when the certificates are valid, and why a newer one is not used.
func (c *Certificates) Check(context.Context) errata.Check { return c.check() }

func (c *Certificates) check() errata.Check {
	if c == nil {
		return errata.Check{Name: "certificate", OK: true, Detail: "none: the service speaks HTTP without TLS"}
	}
	check := errata.Check{Name: "certificate", OK: true}
	if c.cfg.Listener != "http" {
		check.Name += " " + c.cfg.Listener
	}
	now, refused := c.shown.Load(), c.refused.Load()
	if now == nil {
		check.OK, check.Detail, check.Hint = false, "there is none yet, so nobody can connect", "wait until the ACME server has issued one, or see the log"
	} else {
		for i, cert := range now.certs {
			if i > 0 {
				check.Detail += "; "
			}
			left := cert.Leaf.NotAfter.Sub(c.cfg.Now())
			check.Detail += fmt.Sprintf("for %s, until %s", namesOf(cert.Leaf), cert.Leaf.NotAfter.UTC().Format(time.RFC3339))
			if left < endsSoon {
				check.OK = check.OK && left > 0
				check.Hint = renewHint
			}
		}
	}
	if refused != nil {
		check.Hint = fmt.Sprintf("a newer one cannot be used: %v", *refused)
	}
	return check
}

// Local is Check for files before a service has them, from the settings of this
// command. on says whether the files name a certificate.
func (f Files) Local(now time.Time) (check errata.Check, on bool) {
	if f.Cert == "" {
		return check, false
	}
	c := &Certificates{cfg: Config{Listener: "http", Now: func() time.Time { return now }}.withDefaults()}
	all, err := f.read()
	if err == nil {
		err = c.use(f, all)
	}
	if err != nil {
		return errata.Check{Detail: err.Error(), Hint: "the service does not start with these files, and a running one keeps the certificate that it has"}, true
	}
	return c.check(), true
}

// The listener is a constant label, because two collectors must not describe the same.
func (c *Certificates) expires() *prometheus.Desc {
	return prometheus.NewDesc("errata_tls_certificate_expires_seconds",
		"Seconds until a certificate that is shown expires, negative afterwards.", []string{"name"}, prometheus.Labels{"listener": c.cfg.Listener})
}

func (c *Certificates) refusals() *prometheus.Desc {
	return prometheus.NewDesc("errata_tls_certificate_refused",
		"1 while there is a newer certificate that cannot be used, or none could be issued.", nil, prometheus.Labels{"listener": c.cfg.Listener})
}

// Describe is part of [prometheus.Collector].
func (c *Certificates) Describe(to chan<- *prometheus.Desc) {
	to <- c.expires()
	to <- c.refusals()
}

// Collect is part of [prometheus.Collector].
func (c *Certificates) Collect(to chan<- prometheus.Metric) {
	refused := 0.0
	if c.refused.Load() != nil {
		refused = 1
	}
	to <- prometheus.MustNewConstMetric(c.refusals(), prometheus.GaugeValue, refused)
	if now := c.shown.Load(); now != nil {
		for _, cert := range now.certs {
			to <- prometheus.MustNewConstMetric(c.expires(), prometheus.GaugeValue,
				cert.Leaf.NotAfter.Sub(c.cfg.Now()).Seconds(), namesOf(cert.Leaf))
		}
	}
}
