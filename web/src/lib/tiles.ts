// The state of the service in words, for people who do not know which numbers are
// too high.
import type { Figures, OpsStatus } from '../api/types';
import type { Tone } from '../ui/badge';
import { byLabel, perSecond, seconds, total, type Sample } from './samples';
import { bytes, plural, shortCount } from './text';

export interface Tile {
  name: string;
  label: string;
  value: string;
  /** A sentence at most. */
  words: string;
  tone: Tone;
  /** 0 to 1, where there is a limit. */
  part?: number;
}

// The service is not ready from 30 s on; people notice 5 s.
const slowLag = 5_000;
const badLag = 30_000;
// The service warns at 90 %; before that, there is time to act.
const tight = 0.75;
const nearlyFull = 0.9;

/** Tiles for the figures that are known. */
export function tiles({ figures, checks }: Pick<OpsStatus, 'figures' | 'checks'>, samples: readonly Sample[]): Tile[] {
  const passes = (name: string) => checks.find((c) => c.name === name)?.ok !== false;
  return [
    rate(figures), lag(figures, passes('projector')), log(figures), disk(figures), store(figures, passes('clickhouse'), samples),
    lost(figures, samples), dropped(figures, samples), duplicates(samples), letters(samples), unreadable(samples),
  ].filter((t): t is Tile => t !== undefined);
}

function rate(f: Figures): Tile {
  return { name: 'rate', label: 'Rate in', tone: 'plain', value: `${perSecond(f.events_per_second)}/s`, words: f.events_per_second === 0 ? 'nothing in the last minute' : 'mean of the last minute' };
}

function lag(f: Figures, passes: boolean): Tile {
  const tone: Tone = !passes || f.lag_ms > badLag ? 'bad' : f.lag_ms > slowLag ? 'warn' : 'plain';
  const togo = f.lag_facts ? `, ${plural(f.lag_facts, 'fact')} to go` : '';
  const words = tone === 'plain' ? 'the list is up to date' : tone === 'warn' ? `the list is a little behind${togo}` : `the list is behind${togo}; errors are safe on the log`;
  return { name: 'lag', label: 'Lag', value: seconds(f.lag_ms / 1000), words, tone };
}

function log(f: Figures): Tile {
  const { log_bytes: used, log_max_bytes: limit } = f;
  if (used === null) return { name: 'log', label: 'Log', value: 'unknown', words: 'the log does not answer', tone: 'bad' };
  if (!limit) return { name: 'log', label: 'Log', value: bytes(used), words: 'no limit is set', tone: 'plain' };
  const part = used / limit;
  const words = part >= 1 ? 'full: errors are refused' : part >= nearlyFull ? 'nearly full, and then errors are refused' : part >= tight ? `filling up; ${bytes(limit)} is the limit` : `of ${bytes(limit)}`;
  return { name: 'log', label: 'Log', value: bytes(used), words, tone: part >= nearlyFull ? 'bad' : part >= tight ? 'warn' : 'plain', part: Math.min(part, 1) };
}

function disk(f: Figures): Tile | undefined {
  const { disk_free_bytes: free, disk_total_bytes: all } = f;
  if (free === null || !all) return undefined;
  const part = 1 - free / all;
  // The rest of the log must fit on the disk.
  const missing = f.log_max_bytes && f.log_bytes !== null ? f.log_max_bytes - f.log_bytes - free : 0;
  const tone: Tone = part >= nearlyFull ? 'bad' : missing > 0 ? 'warn' : 'plain';
  const words = part >= nearlyFull ? `free of ${bytes(all)}: nearly full` : missing > 0 ? `free; ${bytes(missing)} are missing for a full log` : `free of ${bytes(all)}`;
  return { name: 'disk', label: 'Disk', value: bytes(free), words, tone, part };
}

function store(f: Figures, passes: boolean, samples: readonly Sample[]): Tile {
  if (!passes) return { name: 'clickhouse', label: 'ClickHouse', value: 'not reachable', words: 'errors are accepted and safe; records cannot be read', tone: 'bad' };
  const restarts = total(samples, 'errata_clickhouse_restarts_total') ?? 0;
  return {
    name: 'clickhouse', label: 'ClickHouse', value: f.clickhouse_bytes === null ? 'unknown' : bytes(f.clickhouse_bytes),
    words: restarts > 0 ? `was restarted ${plural(restarts, 'time')}` : f.clickhouse_bytes === null ? 'its size is not known now' : 'on disk, compressed',
    tone: restarts > 0 ? 'warn' : 'plain',
  };
}

function lost(f: Figures, samples: readonly Sample[]): Tile | undefined {
  const n = f.lost_at_senders;
  if (n === null) return undefined;
  const why = byLabel(samples, 'errata_client_lost_total', 'reason').slice(0, 2).map(([reason, count]) => `${reason.replaceAll('_', ' ') || 'no reason'} ${shortCount(count)}`).join(', ');
  return { name: 'lost', label: 'Lost at senders', value: shortCount(n), words: n === 0 ? 'senders report no loss' : `senders gave up${why ? `: ${why}` : ''}`, tone: n > 0 ? 'warn' : 'plain' };
}

function dropped(f: Figures, samples: readonly Sample[]): Tile {
  const all = total(samples, 'errata_events_dropped_total');
  const off = f.dropped_by_switch ?? 0;
  const n = Math.max(all ?? 0, off);
  const refused = byLabel(samples, 'errata_events_dropped_total', 'reason').filter(([reason]) => reason !== 'switched_off').slice(0, 2).map(([reason]) => reason.replaceAll('_', ' '));
  const why = [...(off > 0 ? ['recording is or was off'] : []), ...refused].join(', ');
  return { name: 'dropped', label: 'Dropped', value: shortCount(n), words: n === 0 ? 'every accepted event is kept' : `not kept: ${why || 'senders were told'}`, tone: n > 0 ? 'warn' : 'plain' };
}

function duplicates(samples: readonly Sample[]): Tile | undefined {
  const n = total(samples, 'errata_events_duplicate_total');
  if (n === undefined) return undefined;
  return { name: 'duplicates', label: 'Duplicates', value: shortCount(n), words: n === 0 ? 'nothing was sent twice' : 'sent again, counted once', tone: 'plain' };
}

function letters(samples: readonly Sample[]): Tile | undefined {
  const n = total(samples, 'errata_nats_dead_total');
  if (n === undefined) return undefined;
  return { name: 'letters', label: 'Dead letters', value: shortCount(n), words: n === 0 ? 'no message was refused' : 'refused messages; see Settings, Dead letters', tone: n > 0 ? 'warn' : 'plain' };
}

function unreadable(samples: readonly Sample[]): Tile | undefined {
  const n = total(samples, 'errata_blocks_unreadable_total') ?? 0;
  if (n === 0) return undefined;
  return { name: 'unreadable', label: 'Unreadable', value: shortCount(n), words: 'parts of the log were left out; see the log of the service', tone: 'bad' };
}
