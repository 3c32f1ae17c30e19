package selfcheck

import "slices"

// tellAside logs each part that ClickHouse has set aside, once. ClickHouse sets
// parts aside at its start, and loads the parts that they were merged from if those
// are still there. Otherwise the projector folds their rows again before the first
// look. Without this message nobody would hear of them.
func (c *Checker) tellAside(aside []part, held map[string][]blocks) {
	told := c.mark.Aside
	c.mark.Aside = nil
	for _, p := range aside {
		id := p.table + "/" + p.name
		c.mark.Aside = append(c.mark.Aside, id)
		if slices.Contains(told, id) {
			continue
		}
		rows := "its rows are made again from the log"
		switch {
		case p.blocks.heldBy(held[p.table]):
			rows = "other parts have its rows"
		case !(Damage{Table: p.table}).remade():
			c.cfg.Logger.Error("ClickHouse has set a broken part aside, and its rows cannot be made again from the log: restore the table from a backup", "table", p.table, "part", p.name)
			continue
		}
		c.cfg.Logger.Warn("ClickHouse has set a broken part aside", "table", p.table, "part", p.name, "rows", rows)
		c.metrics.mends.WithLabelValues("aside").Inc()
		c.mended("part " + p.name + " of table " + p.table + " was broken, and ClickHouse has set it aside; " + rows)
	}
}

// mended notes the last mend in the mark, so that [Checker.Check] shows it later.
func (c *Checker) mended(what string) { c.mark.Mended = Mend{At: c.cfg.Now(), What: what} }
