// What the service's state is in words, for people who do not know which
// number is too high.
import type { Tone } from '../ui/badge';
import { byLabel, perSecond, seconds, total, type Sample } from './figures';
import { bytes, plural, shortCount } from './text';

export interface Tile {
  name: string;
  label: string;
  value: string;
  /** A sentence or less. */
  words: string;
  tone: Tone;
  /** 0 to 1, where there is a limit. */
  part?: number;
}

export interface Check {
  name: string;
  ok: boolean;
  detail: string;
  hint?: string;
}

// The service calls itself not ready at 30 s; from 5 s on one notices.
const slowLag = 5;
const badLag = 30;
// The service itself warns at 90 %; before, there is time to do something.
const tightLog = 0.75;
const fullLog = 0.9;

/** Tiles for what is known; rateIn is events in a second, undefined while nobody can tell. */
export function tiles(figures: readonly Sample[], checks: readonly Check[], rateIn: number | undefined): Tile[] {
  return [
    rate(figures, rateIn), lag(figures, checks), log(figures), disk(checks), store(figures, checks), lost(figures), duplicates(figures), dropped(figures), letters(figures), unreadable(figures),
  ].filter((t): t is Tile => t !== undefined);
}

function rate(figures: readonly Sample[], rateIn: number | undefined): Tile {
  const taken = total(figures, 'errata_log_events_appended_total') ?? 0;
  return {
    name: 'rate', label: 'Rate in', tone: 'plain',
    value: rateIn === undefined ? '…' : `${perSecond(rateIn)}/s`,
    words: taken === 0 ? 'no error since the start' : `${plural(taken, 'error')} since the start`,
  };
}

function lag(figures: readonly Sample[], checks: readonly Check[]): Tile | undefined {
  const behind = total(figures, 'errata_projector_lag_seconds');
  if (behind === undefined) return undefined;
  const pending = total(figures, 'errata_projector_pending_facts') ?? 0;
  const broken = checks.find((c) => c.name === 'projector')?.ok === false;
  const tone: Tone = broken || behind > badLag ? 'bad' : behind > slowLag ? 'warn' : 'good';
  const togo = pending > 0 ? `, ${plural(pending, 'fact')} to go` : '';
  const words = tone === 'good' ? 'the list is up to date' : tone === 'warn' ? `the list is a little behind${togo}` : `the list is behind${togo}; errors are safe on the log`;
  return { name: 'lag', label: 'Lag', value: seconds(behind), words, tone };
}

function log(figures: readonly Sample[]): Tile | undefined {
  const used = total(figures, 'errata_log_bytes');
  const limit = total(figures, 'errata_log_max_bytes');
  if (used === undefined) return undefined;
  if (!limit || limit < 0) return { name: 'log', label: 'Log', value: bytes(used), words: 'no limit is set', tone: 'plain' };
  const part = used / limit;
  const words = part >= 1 ? 'full: errors are refused' : part >= fullLog ? 'nearly full, and then errors are refused' : part >= tightLog ? `filling up; ${bytes(limit)} is the limit` : `of ${bytes(limit)}`;
  return { name: 'log', label: 'Log', value: bytes(used), words, tone: part >= fullLog ? 'bad' : part >= tightLog ? 'warn' : 'plain', part: Math.min(part, 1) };
}

// The check says "1 MiB of 10240 MiB used, 69621 MiB free on the disk".
const diskWords = /(\d+) MiB of (\d+) MiB used, (\d+) MiB free/;
const mib = 1024 * 1024;

function disk(checks: readonly Check[]): Tile | undefined {
  const check = checks.find((c) => c.name === 'log storage');
  const found = check && diskWords.exec(check.detail);
  if (!found) return undefined;
  const [used, limit, free] = found.slice(1).map((n) => Number(n) * mib) as [number, number, number];
  const missing = limit - used - free;
  if (missing > 0) return { name: 'disk', label: 'Disk', value: `${bytes(free)} free`, words: `${bytes(missing)} less than the log may grow to`, tone: 'warn' };
  return { name: 'disk', label: 'Disk', value: `${bytes(free)} free`, words: 'room for all that the log may grow to', tone: check.ok ? 'plain' : 'bad' };
}

function store(figures: readonly Sample[], checks: readonly Check[]): Tile | undefined {
  const check = checks.find((c) => c.name === 'clickhouse');
  const size = total(figures, 'errata_clickhouse_bytes');
  if (!check) return undefined;
  if (!check.ok) return { name: 'clickhouse', label: 'ClickHouse', value: 'away', words: 'errors are taken and safe; records cannot be read', tone: 'bad' };
  const restarts = total(figures, 'errata_clickhouse_restarts_total') ?? 0;
  return {
    name: 'clickhouse', label: 'ClickHouse', value: size === undefined ? 'answers' : bytes(size),
    words: restarts > 0 ? `was started again ${plural(restarts, 'time')}` : size === undefined ? versionOf(check.detail) : 'records, trends and logs',
    tone: restarts > 0 ? 'warn' : 'plain',
  };
}

function versionOf(detail: string): string {
  const version = /version ([\d.]+)/.exec(detail)?.[1];
  return version ? `version ${version}` : detail;
}

function lost(figures: readonly Sample[]): Tile | undefined {
  const n = total(figures, 'errata_client_lost_total') ?? 0;
  const why = byLabel(figures, 'errata_client_lost_total', 'reason').slice(0, 2).map(([reason, count]) => `${reason || 'no reason'} ${shortCount(count)}`).join(', ');
  return { name: 'lost', label: 'Lost at senders', value: shortCount(n), words: n === 0 ? 'senders report no loss' : `senders gave up: ${why}`, tone: n > 0 ? 'warn' : 'plain' };
}

function duplicates(figures: readonly Sample[]): Tile | undefined {
  const n = total(figures, 'errata_events_duplicate_total');
  if (n === undefined) return undefined;
  return { name: 'duplicates', label: 'Duplicates', value: shortCount(n), words: n === 0 ? 'nothing was sent twice' : 'sent again and counted once', tone: 'plain' };
}

const dropWords: Record<string, string> = { error_log_off: 'recording is off', off: 'recording is off' };

function dropped(figures: readonly Sample[]): Tile | undefined {
  const n = total(figures, 'errata_events_dropped_total') ?? 0;
  const why = byLabel(figures, 'errata_events_dropped_total', 'reason').slice(0, 2).map(([reason]) => dropWords[reason] ?? reason.replaceAll('_', ' ')).join(', ');
  return { name: 'dropped', label: 'Dropped', value: shortCount(n), words: n === 0 ? 'everything taken is kept' : `not kept: ${why || 'senders were told'}`, tone: n > 0 ? 'warn' : 'plain' };
}

function letters(figures: readonly Sample[]): Tile | undefined {
  const n = total(figures, 'errata_nats_dead_total');
  if (n === undefined) return undefined;
  return { name: 'letters', label: 'Dead letters', value: shortCount(n), words: n === 0 ? 'no message was refused' : 'messages were refused for good', tone: n > 0 ? 'warn' : 'plain' };
}

function unreadable(figures: readonly Sample[]): Tile | undefined {
  const n = total(figures, 'errata_blocks_unreadable_total') ?? 0;
  if (n === 0) return undefined;
  return { name: 'unreadable', label: 'Unreadable', value: shortCount(n), words: 'parts of the log were left out; see the log of the service', tone: 'bad' };
}
