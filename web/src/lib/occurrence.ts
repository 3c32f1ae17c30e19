// One occurrence of a record among all, and how they are spread.
import type { Deployed, Named, OccurrenceFilter } from '../api/occurrences';
import type { Filters } from './filters';

/** An event id that stands alone in a text, without dashes; '' when the text is anything else. */
export function eventIdOf(text: string): string {
  const plain = text.trim().toLowerCase();
  return /^[0-9a-f]{32}$/.test(plain) || /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(plain) ? plain.replaceAll('-', '') : '';
}

/** The filters of the list that choose among occurrences. */
export function scopeOf(filters: Filters): OccurrenceFilter {
  const { environment, release, tag } = filters;
  return Object.fromEntries(Object.entries({ environment, release, tag }).filter(([, value]) => value));
}

/** How long before the event something was, such as −3.2 s; '' when either time is not known. */
export function before(time: string, event: string): string {
  const gone = Date.parse(event) - Date.parse(time);
  if (Number.isNaN(gone)) return '';
  const sign = gone > 0 ? '−' : '+';
  const ms = Math.abs(gone);
  if (ms < 1) return '0 ms';
  if (ms < 1_000) return `${sign}${Math.round(ms)} ms`;
  if (ms < 60_000) return `${sign}${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60 ? `${sign}${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s` : `${sign}${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export interface Share extends Named {
  /** Of all, from 0 to 1. */
  part: number;
}

/** The values with their shares, the most frequent first. total may be more than their sum: some are not listed. */
export function shares<T extends Named>(list: readonly T[], total = 0): (T & Share)[] {
  const all = Math.max(total, list.reduce((sum, v) => sum + v.count, 0), 1);
  return [...list].sort((a, b) => b.count - a.count).map((v) => ({ ...v, part: v.count / all }));
}

/** 45 %, <1 %, 100 % only when it is all. */
export function percent(part: number): string {
  if (part > 0 && part < 0.01) return '<1 %';
  return `${part < 1 ? Math.min(99, Math.round(part * 100)) : 100} %`;
}

export interface Since {
  words: 'since' | 'back since';
  release: string;
}

/**
 * The release in which a record began. One that was resolved and came back is back
 * since its newest release, when no other release was seen after that one began.
 */
export function sinceOf(releases: readonly Deployed[], regressed: boolean): Since | null {
  const byStart = [...releases].sort((a, b) => Date.parse(a.first_seen) - Date.parse(b.first_seen));
  const [first] = byStart;
  const last = byStart[byStart.length - 1];
  // What it began in has not told its name.
  if (!first || !last) return null;
  const alone = byStart.slice(0, -1).every((r) => Date.parse(r.last_seen) <= Date.parse(last.first_seen));
  if (regressed && last !== first && alone && last.value) return { words: 'back since', release: last.value };
  return first.value ? { words: 'since', release: first.value } : null;
}

export interface Span extends Deployed {
  /** The start and the width on an axis from 0 to 100. */
  from: number;
  wide: number;
}

/** When each release was seen, on one axis from the first sighting to the last one; the newest release first. */
export function spans(releases: readonly Deployed[]): Span[] {
  const starts = releases.map((r) => Date.parse(r.first_seen));
  const begin = Math.min(...starts);
  const long = Math.max(...releases.map((r) => Date.parse(r.last_seen))) - begin || 1;
  return releases.map((r, i) => {
    // One that was seen once is seen on the axis too.
    const from = Math.min(98, ((starts[i]! - begin) / long) * 100);
    return { ...r, from: round(from), wide: round(Math.max(2, Math.min(100 - from, ((Date.parse(r.last_seen) - starts[i]!) / long) * 100))) };
  }).sort((a, b) => Date.parse(b.first_seen) - Date.parse(a.first_seen) || b.count - a.count);
}

function round(n: number): number {
  return Math.round(n * 100) / 100;
}
