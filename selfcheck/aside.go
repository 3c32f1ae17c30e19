package selfcheck

import "slices"

// tellAside tells once of each part that ClickHouse has set aside: it does so at
// its start, before anybody could look, and what the log gives again is whole by
// the time of the first look.
func (c *Checker) tellAside(aside []part) {
	told := c.mark.Aside
	c.mark.Aside = nil
	for _, p := range aside {
		id := p.table + "/" + p.name
		c.mark.Aside = append(c.mark.Aside, id)
		if slices.Contains(told, id) {
			continue
		}
		what := "part " + p.name + " of table " + p.table + " was broken, and ClickHouse has set it aside"
		if !(Damage{Table: p.table}).remade() {
			c.cfg.Logger.Error("ClickHouse has set a broken part aside, and nothing makes its rows again: restore the table from a backup", "table", p.table, "part", p.name)
			continue
		}
		c.cfg.Logger.Warn("ClickHouse has set a broken part aside; what it held is made again from the log", "table", p.table, "part", p.name)
		c.metrics.mends.WithLabelValues("aside").Inc()
		c.mended(what + "; what it held was made again from the log")
	}
}

// mended notes the last mend, for an operator who comes later.
func (c *Checker) mended(what string) { c.mark.Mended = Mend{At: c.cfg.Now(), What: what} }
