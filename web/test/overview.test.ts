import { describe, expect, it } from 'vitest';
import type { Figures } from '../src/api/types';
import { byLabel, parseSamples, perSecond, seconds, total } from '../src/lib/samples';
import { growth, stack, totals, type Series } from '../src/lib/series';
import { tiles } from '../src/lib/tiles';

const series: Series[] = [
  { type: 'system', level: 'error', counts: [1, 2, 0] },
  { type: 'system', level: 'warning', counts: [0, 1, 1] },
  { type: 'database', level: 'error', counts: [4, 0, 0] },
];

describe('layers', () => {
  it('lie on each other, the most severe at the bottom', () => {
    expect(stack(series, 'level', 3)).toEqual([
      { name: 'error', total: 7, counts: [5, 2, 0], tops: [5, 2, 0] },
      { name: 'warning', total: 2, counts: [0, 1, 1], tops: [5, 3, 1] },
    ]);
  });
  it('stand for books too', () => {
    expect(stack(series, 'book', 3).map((l) => [l.name, l.total, l.tops])).toEqual([['system', 5, [1, 3, 1]], ['database', 4, [5, 3, 1]]]);
  });
  it('bear series that are short or missing', () => {
    expect(stack([{ type: 'system', level: 'fatal', counts: [1] }], 'level', 3)[0]!.tops).toEqual([1, 0, 0]);
    expect(stack([], 'level', 2)).toEqual([]);
  });
  it('have totals', () => {
    expect(totals(series)).toEqual([{ level: 'error', system: 3, database: 4, all: 7 }, { level: 'warning', system: 2, database: 0, all: 2 }]);
  });
  it('grow in words', () => {
    expect([growth(0, 5), growth(10, 12), growth(10, 25), growth(1, 40)]).toEqual(['new', '+20 %', '2.5×', '40×']);
  });
});

describe('samples', () => {
  const text = '# HELP x y\n# TYPE x counter\nx_total 3\nlost_total{reason="queue_overflow"} 4\nlost_total{reason="a \\"b\\""} 5\nlost_total{reason="none"} 0\nbig 1.073741824e+10\nbucket{le="+Inf"} +Inf\nnonsense\n';
  const samples = parseSamples(text);
  it('are read', () => {
    expect(total(samples, 'x_total')).toBe(3);
    expect(total(samples, 'lost_total')).toBe(9);
    expect(total(samples, 'big')).toBe(10737418240);
    expect(total(samples, 'bucket')).toBe(Infinity);
    expect(total(samples, 'absent')).toBeUndefined();
  });
  it('are told by label', () => {
    expect(byLabel(samples, 'lost_total', 'reason')).toEqual([['a "b"', 5], ['queue_overflow', 4]]);
  });
  it('are written short', () => {
    expect([perSecond(0), perSecond(0.42), perSecond(1204)]).toEqual(['0', '0.4', '1,204']);
    expect([seconds(0.25), seconds(1.44), seconds(45), seconds(200), seconds(9000)]).toEqual(['250 ms', '1.4 s', '45 s', '3 min', '3 h']);
  });
});

describe('tiles', () => {
  const figures: Figures = {
    events_per_second: 2.5, lag_facts: 0, lag_ms: 12, log_bytes: 100, log_max_bytes: 1000, disk_free_bytes: 5000, disk_total_bytes: 9000,
    clickhouse_bytes: 2000, lost_at_senders: 0, dropped_by_switch: 0,
  };
  const tile = (name: string, more: Partial<Figures>, samples = '', checks: { name: string; ok: boolean; detail: string }[] = []) =>
    tiles({ figures: { ...figures, ...more }, checks }, parseSamples(samples)).find((t) => t.name === name);
  it('are calm while all is well', () => {
    expect(tiles({ figures, checks: [] }, []).every((t) => t.tone === 'plain')).toBe(true);
  });
  it('say when the log fills up', () => {
    expect(tile('log', {})).toMatchObject({ part: 0.1, tone: 'plain' });
    expect(tile('log', { log_bytes: 800 })).toMatchObject({ tone: 'warn' });
    expect(tile('log', { log_bytes: 950 })).toMatchObject({ tone: 'bad', words: 'nearly full, and then errors are refused' });
    expect(tile('log', { log_bytes: 1000 })).toMatchObject({ words: 'full: errors are refused' });
    expect(tile('log', { log_bytes: null })).toMatchObject({ tone: 'bad' });
    expect(tile('log', { log_max_bytes: null })).toMatchObject({ words: 'no limit is set' });
  });
  it('say when the disk cannot hold the log', () => {
    expect(tile('disk', { log_max_bytes: 10_000 })).toMatchObject({ tone: 'warn' });
    expect(tile('disk', { disk_free_bytes: 100 })).toMatchObject({ tone: 'bad' });
    expect(tile('disk', { disk_free_bytes: null })).toBeUndefined();
  });
  it('say when the list is behind', () => {
    expect(tile('lag', { lag_ms: 8000, lag_facts: 3 })).toMatchObject({ tone: 'warn', words: 'the list is a little behind, 3 facts to go' });
    expect(tile('lag', { lag_ms: 60_000 })).toMatchObject({ tone: 'bad' });
    expect(tile('lag', {}, '', [{ name: 'projector', ok: false, detail: '' }])).toMatchObject({ tone: 'bad' });
  });
  it('say what was lost, and why', () => {
    expect(tile('lost', { lost_at_senders: 4 }, 'errata_client_lost_total{reason="queue_overflow"} 4')).toMatchObject({ tone: 'warn', words: 'senders gave up: queue overflow 4' });
    expect(tile('dropped', { dropped_by_switch: 2 })).toMatchObject({ value: '2', tone: 'warn', words: 'not kept: recording is or was off' });
    expect(tile('clickhouse', {}, '', [{ name: 'clickhouse', ok: false, detail: '' }])).toMatchObject({ value: 'not reachable', tone: 'bad' });
    expect(tile('letters', {}, 'errata_nats_dead_total{reason="invalid_body"} 1')).toMatchObject({ value: '1', tone: 'warn' });
  });
});
