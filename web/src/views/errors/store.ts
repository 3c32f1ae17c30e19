// The list: what is loaded, what is selected, and what came meanwhile.
//
// While somebody reads (has scrolled, selected, opened or focused something, or
// moves the pointer over the rows) nothing moves: rows change in their places,
// and what is new waits behind a button. Otherwise the page is loaded again,
// because only the service knows what a filter lets through.
import { computed, effect, signal } from '@preact/signals';
import { getTrends, listErrors, type RecordRef } from '../../api/errors';
import type { PageMeta, Row, SparkRange, StreamRecords, Trends } from '../../api/types';
import { fromQuery, toRequest, active } from '../../lib/filters';
import { grown, keyOf, unseen, updated, without } from '../../lib/live';
import { followStream } from '../../live';
import { query, view } from '../../router';
import { can, phase } from '../../session';

export interface Loaded {
  rows: readonly Row[];
  meta: PageMeta;
}

export const filters = computed(() => fromQuery(query.value));
const request = computed(() => toRequest(filters.value).toString());
export const unfiltered = computed(() => active(filters.value).length === 0 && !filters.value.page);

export const loaded = signal<Loaded | null>(null);
export const failed = signal<unknown>(undefined);
export const loading = signal(false);

/** A newer page that waits for the reader. */
export const held = signal<(Loaded & { fresh: number }) | null>(null);
/** Records that were deleted while they are shown. */
export const goneKeys = signal<ReadonlySet<string>>(new Set());
export const selected = signal<ReadonlySet<string>>(new Set());
/** Where the keyboard is, as a key of a record. */
export const cursor = signal('');

/** The record that is open, from the address. */
export const opened = computed<RecordRef | null>(() => {
  const signature = query.value.get('record') ?? '';
  if (!/^[0-9a-f]{32}$/i.test(signature)) return null;
  return { signature: signature.toLowerCase(), type: query.value.get('book') === 'database' ? 'database' : 'system' };
});
export const openKey = computed(() => (opened.value ? keyOf(opened.value) : ''));

const rangePlace = 'errata.spark';
export const sparkRange = signal<SparkRange>(localStorage.getItem(rangePlace) === '14d' ? '14d' : '24h');

export function setSparkRange(range: SparkRange): void {
  localStorage.setItem(rangePlace, range);
  sparkRange.value = range;
}

export interface Sparks {
  from: number;
  step: 'hour' | 'day';
  counts: ReadonlyMap<string, readonly number[]>;
}

export const sparks = signal<Sparks | null>(null);

let running: AbortController | null = null;
let sparking: AbortController | null = null;

/** Loads the page that the address names; quiet keeps what is shown until it is there, and may hold it back. */
export async function load(quiet = false): Promise<void> {
  // Whoever overtakes what shall show at once shows at once.
  quiet &&= !loading.peek();
  running?.abort();
  const mine = new AbortController();
  running = mine;
  loading.value = !quiet;
  try {
    const page = await listErrors(new URLSearchParams(request.peek()), mine.signal);
    if (mine.signal.aborted) return;
    failed.value = undefined;
    const shown = loaded.peek();
    if (quiet && shown && shown.rows.length > 0 && reading()) hold(shown, { rows: page.rows, meta: page.meta });
    else show({ rows: page.rows, meta: page.meta }, quiet);
  } catch (error) {
    if (mine.signal.aborted) return;
    // A quiet try that fails leaves what is there; the stream says that something is wrong.
    if (!quiet || !loaded.peek()) failed.value = error;
  } finally {
    if (running === mine) {
      running = null;
      loading.value = false;
    }
  }
}

function show(page: Loaded, quiet: boolean): void {
  loaded.value = page;
  held.value = null;
  goneKeys.value = new Set();
  const keys = new Set(page.rows.map(keyOf));
  if ([...selected.peek()].some((k) => !keys.has(k))) selected.value = new Set([...selected.peek()].filter((k) => keys.has(k)));
  void loadSparks(quiet);
}

function hold(shown: Loaded, page: Loaded): void {
  loaded.value = { rows: updated(shown.rows, page.rows), meta: { ...shown.meta, total: page.meta.total } };
  const fresh = unseen(shown.rows, page.rows);
  held.value = fresh > 0 ? { ...page, fresh } : null;
}

/**
 * Loads after an own change, which shows at once. When the row under the cursor
 * is gone by that, the next one that is left takes its place.
 */
export async function settleAfter(): Promise<void> {
  const before = (loaded.peek()?.rows ?? []).map(keyOf);
  const at = before.indexOf(cursor.peek());
  const focused = document.activeElement === document.body || document.activeElement?.closest('.list-rows') != null;
  await load();
  const now = new Set((loaded.peek()?.rows ?? []).map(keyOf));
  if (at < 0 || now.has(before[at]!)) return;
  const next = before.slice(at + 1).find((k) => now.has(k)) ?? before.slice(0, at).findLast((k) => now.has(k));
  cursor.value = next ?? '';
  if (next && focused && !opened.peek()) refocus(next);
}

/** Gives the focus back to a row that was drawn anew. */
function refocus(key: string): void {
  requestAnimationFrame(() => {
    if (document.activeElement === document.body) document.querySelector<HTMLElement>(`.list-rows [data-key="${CSS.escape(key)}"] a`)?.focus();
  });
}

/** Shows what was held back. */
export function release(): void {
  const focused = document.activeElement?.closest<HTMLElement>('.list-rows [data-key]')?.dataset.key;
  if (focused) refocus(focused);
  const page = held.peek();
  if (page) show({ rows: page.rows, meta: page.meta }, true);
  void load(true);
}

/** The sparklines of the rows, in one call; with onlyNew, of those that have none yet. */
async function loadSparks(onlyNew: boolean): Promise<void> {
  const rows = loaded.peek()?.rows ?? [];
  const have = onlyNew ? sparks.peek() : null;
  const wanted = have ? rows.filter((r) => !have.counts.has(keyOf(r))) : rows;
  if (wanted.length === 0) return;
  sparking?.abort();
  const mine = new AbortController();
  sparking = mine;
  try {
    const trends = await getTrends(wanted, sparkRange.peek(), mine.signal);
    if (!mine.signal.aborted) sparks.value = joined(have, trends);
  } catch {
    // A list without sparklines is still a list.
  }
}

function joined(have: Sparks | null, trends: Trends): Sparks {
  const counts = new Map(have?.counts);
  for (const t of trends.trends) counts.set(keyOf(t), t.counts);
  return { from: Date.parse(trends.from), step: trends.step, counts };
}

// What reading() asks of the page.
let scroller: HTMLElement | null = null;
let movedAt = 0;
// Who has not moved the pointer for so long is looking elsewhere.
const attention = 10_000;

export function setScroller(element: HTMLElement | null): void {
  scroller = element;
}

export function noteMove(): void {
  movedAt = Date.now();
}

function reading(): boolean {
  return selected.peek().size > 0 || opened.peek() !== null || (scroller?.scrollTop ?? 0) > 8 || scrollY > 8
    || Date.now() - movedAt < attention || (document.activeElement?.closest('.list-rows') ?? null) !== null
    || (loaded.peek()?.meta.page ?? 1) > 1;
}

// Changes come up to four times a second; the list is asked for at most once
// in this time.
const pace = 1_500;
let due: ReturnType<typeof setTimeout> | undefined;

function soon(): void {
  due ??= setTimeout(() => {
    due = undefined;
    // What was asked for by hand is waited for, with the focus, and not overtaken.
    if (loading.peek()) soon();
    else if (phase.peek() === 'in' && view.peek() === 'errors') void load(true);
  }, pace);
}

/** What the stream says. */
export function take(batch: StreamRecords): void {
  const shown = loaded.peek();
  if (!shown) return;
  growSparks(shown.rows, batch.records);
  const rows = updated(shown.rows, batch.records);
  if (rows !== shown.rows) loaded.value = { ...shown, rows };
  noteGone(batch.gone);
  const unknown = batch.more > 0 || unseen(rows, batch.records) > 0;
  // An answer that is under way may be older than the batch, which it replaces.
  if (unknown || running || !reading()) soon();
}

function noteGone(gone: StreamRecords['gone']): void {
  const shown = loaded.peek();
  if (!shown || gone.length === 0) return;
  const rows = without(shown.rows, gone);
  if (rows === shown.rows) return;
  goneKeys.value = new Set([...goneKeys.peek(), ...gone.map(keyOf)]);
}

function growSparks(rows: readonly Row[], changes: readonly Row[]): void {
  const have = sparks.peek();
  if (!have) return;
  const before = new Map(rows.map((r) => [keyOf(r), r.count]));
  let counts: Map<string, readonly number[]> | null = null;
  for (const change of changes) {
    const key = keyOf(change);
    const line = have.counts.get(key);
    const by = change.count - (before.get(key) ?? change.count);
    if (!line || by <= 0) continue;
    counts ??= new Map(have.counts);
    counts.set(key, grown(line, by));
  }
  if (counts) sparks.value = { ...have, counts };
}

/** Puts changed rows in, as an answer of our own may have them. */
export function put(rows: readonly Row[]): void {
  const shown = loaded.peek();
  if (shown) loaded.value = { ...shown, rows: updated(shown.rows, rows) };
}

export function select(key: string, on?: boolean): void {
  const next = new Set(selected.peek());
  if (on ?? !next.has(key)) next.add(key);
  else next.delete(key);
  selected.value = next;
}

export function selectAll(on: boolean): void {
  selected.value = new Set(on ? (loaded.peek()?.rows ?? []).map(keyOf) : []);
}

/** Follows the address and the stream until the returned function is called. */
export function follow(): () => void {
  const ends: (() => void)[] = [];
  let first = true;
  ends.push(effect(() => {
    void request.value;
    if (view.value !== 'errors') return;
    if (!first) {
      selected.value = new Set();
      cursor.value = '';
      scroller?.scrollTo({ top: 0 });
    }
    first = false;
    void load();
  }));
  let firstRange = true;
  ends.push(effect(() => {
    void sparkRange.value;
    if (!firstRange) void loadSparks(false);
    firstRange = false;
  }));
  if (can('Tools/GetErrorLogs')) {
    // What changed between the answer with the list and the opening is not told.
    ends.push(followStream({ onOpen: soon, onRecords: take }));
  }
  // What is held is shown once nobody reads any more; the last bucket of the
  // sparklines ends, too.
  const settle = setInterval(() => {
    if (held.peek() && !reading()) release();
  }, 2_000);
  const renew = setInterval(() => void loadSparks(false), 5 * 60_000);
  ends.push(() => {
    clearInterval(settle);
    clearInterval(renew);
    clearTimeout(due);
    due = undefined;
    running?.abort();
    sparking?.abort();
  });
  return () => ends.forEach((end) => end());
}
