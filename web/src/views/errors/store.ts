// The list: loaded rows, selected rows, and changes that wait. A person reads
// while something is scrolled, selected, opened or focused, or while the pointer
// moves over the rows. Then nothing moves: rows change in place, and new rows
// wait behind a button. At other times the page is loaded again, because only the
// service knows which records a filter finds.
import { computed, effect, signal } from '@preact/signals';
import { getTrends, listErrors } from '../../api/errors';
import type { PageMeta, Row, SparkRange, StreamRecords, Trends } from '../../api/types';
import { active, fromQuery, recordOf, toRequest } from '../../lib/filters';
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

/** The open record, from the address. */
export const opened = computed(() => recordOf(query.value));
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

/** Loads the page of the address. With quiet the old rows stay until the answer is there, and the answer waits while a person reads. */
export async function load(quiet = false): Promise<void> {
  // A load that aborts a visible one is visible too.
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
    // A quiet load that fails keeps the rows; the state of the stream shows that
    // something is wrong.
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
 * Loads after the viewer's own change, which is visible at once. When that
 * removes the row under the cursor, the cursor moves to the next row.
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

/** Gives the focus back to a row that was drawn again. */
function refocus(key: string): void {
  requestAnimationFrame(() => {
    if (document.activeElement === document.body) document.querySelector<HTMLElement>(`.list-rows [data-key="${CSS.escape(key)}"] a`)?.focus();
  });
}

/** Shows the page that was held back. */
export function release(): void {
  const focused = document.activeElement?.closest<HTMLElement>('.list-rows [data-key]')?.dataset.key;
  if (focused) refocus(focused);
  const page = held.peek();
  if (page) show({ rows: page.rows, meta: page.meta }, true);
  void load(true);
}

/** Loads the sparklines of the rows, in one call; with onlyNew, of those that have none yet. */
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

// The conditions of reading().
let scroller: HTMLElement | null = null;
let movedAt = 0;
// Without pointer movement for this long, the person is not reading.
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

// Changes come up to four times a second; the list is loaded at most once in this
// time.
const pace = 1_500;
let due: ReturnType<typeof setTimeout> | undefined;

function soon(): void {
  due ??= setTimeout(() => {
    due = undefined;
    // A load that the person started is not replaced by this one.
    if (loading.peek()) soon();
    else if (phase.peek() === 'in' && view.peek() === 'errors') void load(true);
  }, pace);
}

const watchers = new Set<(batch: StreamRecords) => void>();

/** Tells every message of the stream until the returned function is called. */
export function onStream(look: (batch: StreamRecords) => void): () => void {
  watchers.add(look);
  return () => watchers.delete(look);
}

/** Handles a message of the stream. */
export function take(batch: StreamRecords): void {
  watchers.forEach((look) => look(batch));
  const shown = loaded.peek();
  if (!shown) return;
  growSparks(shown.rows, batch.records);
  const rows = updated(shown.rows, batch.records);
  if (rows !== shown.rows) loaded.value = { ...shown, rows };
  noteGone(batch.gone);
  const unknown = batch.more > 0 || unseen(rows, batch.records) > 0;
  // An answer in progress may be older than the message, so the message wins.
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

/** Replaces changed rows, also those of our own answers. */
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
    // The stream does not tell changes between the answer with the list and its
    // opening.
    ends.push(followStream({ onOpen: soon, onRecords: take }));
  }
  // A held page is shown when nobody reads any more. The sparklines are loaded
  // again from time to time, because their last bucket ends.
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
