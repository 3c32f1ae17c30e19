package logcare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/eventlog"
)

// The alarms.
const (
	// AlarmGap: facts of the log are gone and no operator has decided about them.
	AlarmGap = "log-gap"
	// AlarmOlder: the log ended before the checkpoint of the records.
	AlarmOlder = "log-older"
	// AlarmBack: lost facts are on the log again, but not in the records.
	AlarmBack = "log-repaired"
	// AlarmFiles: messages of a stream other than the log were damaged.
	AlarmFiles = "files-damaged"
)

// maxTold is how many gaps an alarm names at most.
const maxTold = 3

type metrics struct {
	facts prometheus.Counter
	gaps  *prometheus.GaugeVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{
		facts: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "errata_log_gap_facts_total", Help: "Facts of the log that were found to be gone since the start."}),
		gaps: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "errata_log_gaps", Help: "Gaps of the log: open ones wait for an operator's decision."}, []string{"state"}),
	}
	if r != nil {
		r.MustRegister(m.facts, m.gaps)
	}
	return m
}

// alarmMended raises an alarm when the start has mended files of other streams than
// the log; gaps of the log have their own alarm. The alarm lasts until the next
// start.
func (k *Keeper) alarmMended() {
	var found []string
	for _, m := range k.cfg.Mended {
		if m.Stream != k.cfg.Log.Stream {
			found = append(found, fmt.Sprintf("stream %s, file %s, %d bytes, as it was kept in %s", m.Stream, m.File, m.Bytes, m.Kept))
		}
	}
	if len(found) > 0 {
		k.cfg.Alarms.Raise(AlarmFiles, "The disk has damaged messages, which were taken out: "+strings.Join(found, "; ")+". What they held is lost; an older value may be in force.",
			"KV_keys holds the API keys: look at errata keys list and make again what is missing; the other streams hold work in progress. The alarm ends with the next start")
	}
}

// updateAlarms raises and clears the alarms from the facts about gaps. The caller
// holds mu.
func (k *Keeper) updateAlarms() {
	var gone, older []eventlog.Gap
	for _, gap := range eventlog.OpenGaps(k.facts) {
		switch {
		case slices.ContainsFunc(k.healed, func(back eventlog.Gap) bool { return back.From == gap.From && back.To == gap.To }):
		case gap.Why == eventlog.GapOlder:
			older = append(older, gap)
		default:
			gone = append(gone, gap)
		}
	}
	k.metrics.gaps.WithLabelValues("open").Set(float64(len(gone) + len(older)))
	k.metrics.gaps.WithLabelValues("accepted").Set(float64(len(eventlog.SettledGaps(k.facts))))
	k.metrics.gaps.WithLabelValues("repaired").Set(float64(len(k.healed)))
	k.alarm(AlarmGap, gone, func() (string, string) {
		detail := "The log lacks what was accepted before: " + list(gone) + ". What stands behind it is shown; records made before the damage still count it, a replay would not, and an event of it that is sent again counts again."
		if k.stopped != nil {
			detail = fmt.Sprintf("Nothing new is shown since fact %d, as log-gaps=stop wants it: %s. Events are taken and safe.", k.stopped.From-1, list(gone))
		}
		return detail, "with the service stopped, errata log repair --from COPY takes the facts from a copy of data/nats; errata log accept --by NAME goes on without them"
	})
	k.alarm(AlarmOlder, older, func() (string, string) {
		cause := "a backup of the log was put back that is older than the records, or its disk lost what it had confirmed"
		if k.cfg.LazySync {
			cause = "a power cut took what lazy-sync had not written yet, or a backup of the log was put back that is older than the records"
		}
		return "The log ended before the records do: " + list(older) + ". Either " + cause + ". New events are safe: the places were filled. The settings are those that the log still has.",
			"errata log accept --by NAME keeps the records and goes on, and a later replay would lose what only they hold; errata replay --force takes the log's word, and the records lose it now; errata log repair --from COPY, with the service stopped, puts the facts back from a newer copy of data/nats"
	})
	k.alarm(AlarmBack, k.healed, func() (string, string) {
		return "Facts are on the log again that were gone: " + list(k.healed) + ". Records may have been made without them.",
			"errata replay makes the records anew, with --force where they differ"
	})
}

// alarm raises the alarm for the gaps, or clears it when there are none.
func (k *Keeper) alarm(name string, gaps []eventlog.Gap, words func() (detail, hint string)) {
	if len(gaps) == 0 {
		k.cfg.Alarms.Clear(name)
		return
	}
	detail, hint := words()
	k.cfg.Alarms.Raise(name, detail, hint)
}

// list names the first gaps.
func list(gaps []eventlog.Gap) string {
	var text []string
	for _, gap := range gaps[:min(len(gaps), maxTold)] {
		text = append(text, gap.String())
	}
	if len(gaps) > maxTold {
		text = append(text, fmt.Sprintf("and %d more stretches", len(gaps)-maxTold))
	}
	return strings.Join(text, ", ")
}
