// Which occurrence of the open record is shown, and which of them are listed.
import { signal } from '@preact/signals';
import { ApiError } from '../../api/client';
import type { RecordRef } from '../../api/errors';
import { getOccurrence, listOccurrences, type OccurrenceFilter, type OneOccurrence, type Position } from '../../api/occurrences';
import { scopeOf } from '../../lib/occurrence';
import { change, query } from '../../router';
import { useKeys } from '../../keyboard';
import { useLoad, type Loaded } from '../../ui/load';
import { toast } from '../../ui/toast';
import { filters } from './store';

/** The filter of the list of occurrences, and whether the list is unfolded. */
export const listed = signal<{ filter: OccurrenceFilter; open: boolean }>({ filter: {}, open: false });

export interface Shown extends Loaded<OneOccurrence | null> {
  /** What the address names: a position, first or latest; '' for the latest within the filters of the list. */
  at: string;
}

/** The occurrence of the address; null when none of them is kept. */
export function useShown(of: RecordRef): Shown {
  const at = query.value.get('occurrence') ?? '';
  const scope = scopeOf(filters.value);
  const load = useLoad((signal) => find(of, at, scope, signal), `${at} ${at ? '' : JSON.stringify(scope)}`);
  const shown: Shown = { ...load, at };
  useKeys((action) => {
    switch (action) {
      case 'older': return show(shown, load.data?.previous);
      case 'newer': return showNext(of, shown);
      case 'oldest': return show(shown, 'first');
      case 'newest': return show(shown, 'latest');
      default: return false;
    }
  });
  return shown;
}

async function find(of: RecordRef, at: string, scope: OccurrenceFilter, abort: AbortSignal): Promise<OneOccurrence | null> {
  try {
    const first = at || Object.keys(scope).length === 0 ? undefined : (await listOccurrences(of, scope, '', 1, abort)).list[0];
    return await getOccurrence(of, at || (first?.position ?? 'latest'), abort);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

/** Shows another occurrence in the place of this one; false when there is none. */
export function show(shown: Shown, at: Position | null | undefined): boolean {
  if (at === null || at === undefined || at === '' || at === 0) return false;
  // There may be a later one than when it was asked for.
  if (String(at) === shown.at) shown.reload();
  else change({ occurrence: at }, 'replace');
  return true;
}

/** Shows the next one; false when there is none. It may have come after this one was loaded. */
export function showNext(of: RecordRef, shown: Shown): boolean {
  const one = shown.data;
  if (!one || show(shown, one.next)) return !!one;
  getOccurrence(of, one.position).then((now) => show(shown, now.next), toast.failed);
  return true;
}

/** To the beginning of the record, where another occurrence now stands. */
export function toTop(): void {
  document.querySelector('.record-body')?.scrollTo({ top: 0 });
  if (document.querySelector('.record')) scrollTo({ top: 0 });
}

let going = false;

/** Unfolds the list of occurrences, with the filter if there is one, and goes there. */
export function toList(filter = listed.peek().filter): void {
  going = true;
  listed.value = { filter, open: true };
  requestAnimationFrame(() => {
    document.querySelector<HTMLElement>('#occurrences > summary')?.focus({ preventScroll: true });
    atList();
  });
}

/** Goes there again when the rows give it its height. */
export function arrived(): void {
  if (going) requestAnimationFrame(atList);
  going = false;
}

function atList(): void {
  document.getElementById('occurrences')?.scrollIntoView({ block: 'start' });
}
