// Package dashboards runs every query of the dashboards and alert rules in deploy/: PromQL
// by the engine of Prometheus on the real /metrics of a service, SQL as the user for
// analysts on its ClickHouse. So neither can name a metric or a column that there is not.
// What a panel looks like in Grafana is not tested.
package dashboards
