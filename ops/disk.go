package ops

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Disk is a prometheus.Collector of the room on the disk of the data folder.
type Disk struct {
	room        func() (free, total int64, err error)
	free, total *prometheus.Desc
}

// NewDisk asks room, which says how many bytes are free and how many there are, at
// every scrape; DiskRoom of *engine.Engines does.
func NewDisk(room func() (free, total int64, err error)) *Disk {
	return &Disk{
		room:  room,
		free:  prometheus.NewDesc("errata_disk_free_bytes", "Bytes that are free on the disk of the data folder.", nil, nil),
		total: prometheus.NewDesc("errata_disk_total_bytes", "Bytes that the disk of the data folder has.", nil, nil),
	}
}

// Describe names the two metrics.
func (d *Disk) Describe(out chan<- *prometheus.Desc) {
	out <- d.free
	out <- d.total
}

// Collect asks the disk. There are no metrics when it does not answer.
func (d *Disk) Collect(out chan<- prometheus.Metric) {
	free, total, err := d.room()
	if err != nil {
		return
	}
	out <- prometheus.MustNewConstMetric(d.free, prometheus.GaugeValue, float64(free))
	out <- prometheus.MustNewConstMetric(d.total, prometheus.GaugeValue, float64(total))
}

// RegisterMetrics registers those given, and those of every Go process: memory,
// goroutines, files.
func RegisterMetrics(to prometheus.Registerer, given ...prometheus.Collector) error {
	for _, c := range append(given, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})) {
		if err := to.Register(c); err != nil {
			return fmt.Errorf("register metrics: %w", err)
		}
	}
	return nil
}
