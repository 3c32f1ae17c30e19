import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { RecordRef } from '../../api/errors';
import type { Status } from '../../api/types';
import { noRecord, recordParams } from '../../lib/filters';
import type { Action } from '../../lib/keys';
import { moved } from '../../lib/keys';
import { keyOf } from '../../lib/live';
import { useKeys } from '../../keyboard';
import { change } from '../../router';
import { can } from '../../session';
import { Denied, Failure, Loading } from '../../ui/state';
import { doLatest } from '../../ui/toast';
import { move, remove } from './actions';
import { Bar } from './bar';
import { FirstRun, KeptDSN } from './firstrun';
import { List, focusRow } from './list';
import { Record } from './record';
import { moveMatching, removeMatching } from './matching';
import { allSelected, cursor, failed, follow, load, loaded, loading, openKey, opened, release, select, selectAll, selected, unfiltered } from './store';

export function ErrorsView() {
  const mayList = can('Tools/GetErrorLogs');
  useEffect(() => (mayList ? follow() : undefined), [mayList]);
  useKeys(act);
  const open = opened.value;
  useKeptScroll(open !== null);
  useFocusBack(openKey.value);
  return (
    <div class={`errors${open ? ' with-record' : ''}`}>
      <h1 class="offscreen">Errors</h1>
      <div class="errors-main">
        {mayList ? <Main /> : <Denied scope="Tools/GetErrorLogs" what="Your key may not list errors" />}
      </div>
      {open ? <Record key={keyOf(open)} of={open} /> : null}
    </div>
  );
}

function Main() {
  const page = loaded.value;
  if (!page) return failed.value ? <><Bar /><Failure error={failed.value} retry={() => void load()} /></> : <Loading />;
  if (unfiltered.value && page.meta.total === 0 && page.rows.length === 0 && !failed.value) return <FirstRun />;
  return (
    <>
      <Bar />
      <KeptDSN />
      {failed.value ? <Failure error={failed.value} retry={() => void load()} /> : <List page={page} busy={loading.value} />}
    </>
  );
}

// On a narrow page a record replaces the list, which loses its scroll position.
function useKeptScroll(open: boolean): void {
  const kept = useRef(0);
  const was = useRef(open);
  if (open && !was.current) kept.current = scrollY;
  useLayoutEffect(() => {
    if (open === was.current) return;
    was.current = open;
    scrollTo({ top: open ? 0 : kept.current });
  }, [open]);
}

// What had the focus in the record goes away with it. Whoever closes the record at once finds the focus still
// on the row where it was opened, which may be another one.
function useFocusBack(key: string): void {
  const was = useRef(key);
  useLayoutEffect(() => {
    const closed = key ? '' : was.current;
    was.current = key;
    const at = document.activeElement;
    if (!closed || (at !== document.body && !at?.closest('.list-rows'))) return;
    focusRow(closed);
    cursor.value = closed;
  }, [key]);
}

function rows() {
  return loaded.peek()?.rows ?? [];
}

/** The records of an action: the selected ones, else the open one, else the one under the cursor. */
function targets() {
  const list = rows();
  if (selected.peek().size > 0) return list.filter((r) => selected.peek().has(keyOf(r)));
  const at = openKey.peek() || cursor.peek();
  return list.filter((r) => keyOf(r) === at);
}

let lastAt = -1;

function act(action: Action): boolean {
  const list = rows();
  switch (action) {
    case 'next': case 'previous': case 'first': case 'last': {
      const found = list.findIndex((r) => keyOf(r) === (openKey.peek() || cursor.peek()));
      // The action may have removed the record from the list; the next one then
      // has its place.
      const at = found < 0 && lastAt > 0 ? lastAt - (action === 'next' ? 1 : 0) : found;
      const next = moved(at, list.length, action);
      const to = list[next];
      if (!to) return false;
      lastAt = next;
      if (openKey.peek()) open(to, 'replace');
      else focusRow(keyOf(to));
      cursor.value = keyOf(to);
      return true;
    }
    case 'open': {
      const at = list.find((r) => keyOf(r) === cursor.peek());
      if (!at || openKey.peek()) return false;
      open(at);
      return true;
    }
    case 'select': {
      const at = openKey.peek() || cursor.peek();
      if (!list.some((r) => keyOf(r) === at)) return false;
      select(at);
      return true;
    }
    case 'select-all':
      selectAll(selected.peek().size < list.length);
      return true;
    case 'resolve': moveTargets('resolved'); return true;
    case 'mute': moveTargets('muted'); return true;
    case 'reopen': moveTargets('open'); return true;
    case 'delete': void removeTargets(); return true;
    case 'undo': return doLatest();
    case 'search': return focusOn('.search input');
    case 'filters': return focusOn('.more-filters > summary') || focusOn('.filters-toggle');
    case 'refresh': release(); return true;
    case 'next-page': return turn(1);
    case 'previous-page': return turn(-1);
    case 'close': return close();
    default: return false;
  }
}

function moveTargets(status: Status): void {
  void (allSelected.peek() ? moveMatching(status) : move(targets(), status));
}

async function removeTargets(): Promise<void> {
  if (allSelected.peek()) {
    await removeMatching();
    return;
  }
  const at = targets();
  const wasOpen = at.some((r) => keyOf(r) === openKey.peek());
  if ((await remove(at)) && wasOpen) change(noRecord);
}

function open(row: RecordRef, how: 'push' | 'replace' = 'push'): void {
  change(recordParams(row), how);
}

function turn(by: number): boolean {
  const meta = loaded.peek()?.meta;
  if (!meta) return false;
  const to = by > 0 ? meta.next_page : meta.page - 1;
  if (to < 1) return false;
  change({ page: to === 1 ? '' : to });
  return true;
}

function close(): boolean {
  const active = document.activeElement;
  if (active instanceof HTMLInputElement && active.closest('.search')) {
    active.blur();
    return true;
  }
  if (openKey.peek()) {
    change(noRecord);
    return true;
  }
  if (selected.peek().size > 0) {
    selected.value = new Set();
    return true;
  }
  return false;
}

function focusOn(selector: string): boolean {
  const element = document.querySelector<HTMLElement>(selector);
  if (!element || element.offsetParent === null) return false;
  element.focus();
  if (element instanceof HTMLInputElement) element.select();
  return true;
}
