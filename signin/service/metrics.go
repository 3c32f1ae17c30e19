package service

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/signin"
)

// newOutcomes counts what this node recorded of sign-ins.
func newOutcomes() *prometheus.CounterVec {
	outcomes := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "errata_signins_total", Help: "Sign-ins that this node recorded, by side and by outcome: success or failure.",
	}, []string{"side", "outcome"})
	for _, side := range []signin.Side{signin.Admin, signin.Client} {
		for _, success := range []bool{true, false} {
			outcomes.WithLabelValues(string(side), outcome(success)) // so that the first failure is a rise
		}
	}
	return outcomes
}

func outcome(success bool) string {
	if success {
		return "success"
	}
	return "failure"
}
