package selfcheck

import "slices"

// tellAside logs each part that ClickHouse has set aside, once. ClickHouse sets
// parts aside at its start, and the projector folds their rows again before the
// first look. Without this message nobody would hear of them.
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
			c.cfg.Logger.Error("ClickHouse has set a broken part aside, and its rows cannot be made again from the log: restore the table from a backup", "table", p.table, "part", p.name)
			continue
		}
		c.cfg.Logger.Warn("ClickHouse has set a broken part aside; its rows are made again from the log", "table", p.table, "part", p.name)
		c.metrics.mends.WithLabelValues("aside").Inc()
		c.mended(what + "; its rows were made again from the log")
	}
}

// mended notes the last mend in the mark, so that [Checker.Check] shows it later.
func (c *Checker) mended(what string) { c.mark.Mended = Mend{At: c.cfg.Now(), What: what} }
