// The rows. They have the roles of a table on elements that a narrow page can lay
// out differently.
import { Component } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Book, Row } from '../../api/types';
import { defaultLimit, emptied, narrowing, pageSizes, recordParams, type Filters } from '../../lib/filters';
import { keyOf } from '../../lib/live';
import { fullCount, shortClass, visible } from '../../lib/text';
import { sparkPath, sparkTitle } from '../../lib/spark';
import { bucket } from '../../lib/time';
import { projectName } from '../../lib/projects';
import { chosen, chosenProject, mixed, projects } from '../../projects';
import { change, follow, hrefWith } from '../../router';
import { LevelBadge, OverflowBadge, StatusBadge } from '../../ui/badge';
import { Button, PageLink } from '../../ui/button';
import { Empty } from '../../ui/state';
import { Count, Safe, Time } from '../../ui/text';
import { cursor, filters, goneKeys, noteMove, openKey, select, selectAll, selected, setScroller, sparks, type Loaded } from './store';

interface Head {
  name: string;
  label: string;
  /** The API's name of the order. */
  order?: string;
  /** The direction of the first click. */
  first?: 'asc' | 'desc';
}

const heads: readonly Head[] = [
  { name: 'level', label: 'Level', order: 'level', first: 'desc' },
  { name: 'message', label: 'Message', order: 'message', first: 'asc' },
  { name: 'where', label: 'Where', order: 'file', first: 'asc' },
  { name: 'spark', label: 'Trend' },
  { name: 'count', label: 'Count', order: 'count', first: 'desc' },
  { name: 'users', label: 'Users' },
  { name: 'first', label: 'First', order: 'first_seen', first: 'desc' },
  { name: 'last', label: 'Last', order: 'last_seen', first: 'desc' },
  { name: 'book', label: 'Book', order: 'type', first: 'asc' },
  { name: 'project', label: 'Project' },
  { name: 'status', label: 'Status' },
];

export function List({ page, busy }: { page: Loaded; busy: boolean }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    setScroller(box.current);
    return () => setScroller(null);
  }, []);
  const chosen = selected.value;
  const open = openKey.value;
  const at = cursor.value;
  const gone = goneKeys.value;
  const lines = sparks.value;
  const named = mixed.value ? projects.value ?? [] : null;
  if (page.rows.length === 0) return <Nothing page={page} />;
  return (
    <>
      <div class={`list${named ? ' with-projects' : ''}`} ref={box} onPointerMove={noteMove}>
        <div role="table" aria-label="Errors" aria-busy={busy} aria-rowcount={page.meta.total} class={busy ? 'busy' : undefined}>
          <div role="rowgroup">
            <div role="row" class="line head">
              <span role="columnheader" class="c-check">
                <input
                  type="checkbox" aria-label="Select all on this page" checked={chosen.size > 0 && chosen.size === page.rows.length}
                  ref={(e) => { if (e) e.indeterminate = chosen.size > 0 && chosen.size < page.rows.length; }}
                  onChange={(e) => selectAll(e.currentTarget.checked)}
                />
              </span>
              {heads.filter((h) => named || h.name !== 'project').map((h) => <HeadCell key={h.name} head={h} filters={filters.value} />)}
            </div>
          </div>
          <div role="rowgroup" class="list-rows">
            {page.rows.map((row) => {
              const key = keyOf(row);
              return (
                <Line
                  key={key} row={row} project={named ? projectName(named, row) : ''} selected={chosen.has(key)} open={key === open} cursor={key === at} gone={gone.has(key)}
                  counts={lines?.counts.get(key)} from={lines?.from ?? 0} step={lines?.step ?? 'hour'}
                />
              );
            })}
          </div>
        </div>
      </div>
      <Pager page={page} />
    </>
  );
}

function HeadCell({ head, filters: f }: { head: Head; filters: Filters }) {
  if (!head.order) return <span role="columnheader" class={`c-${head.name}`}>{head.label}</span>;
  const order = f.order ?? 'last_seen';
  const direction = f.direction === 'asc' ? 'asc' : 'desc';
  const on = order === head.order;
  const next = on ? (direction === 'asc' ? 'desc' : 'asc') : head.first!;
  const usual = head.order === 'last_seen' && next === 'desc';
  return (
    <span role="columnheader" class={`c-${head.name}${on ? ' sorted' : ''}`} aria-sort={on ? (direction === 'asc' ? 'ascending' : 'descending') : undefined}>
      <button type="button" onClick={() => change({ order: usual ? '' : head.order!, direction: usual || next === 'desc' ? '' : 'asc', page: '' })}>
        {head.label}<span aria-hidden="true" class="arrow">{on ? (direction === 'asc' ? '↑' : '↓') : ''}</span>
      </button>
    </span>
  );
}

interface LineProps {
  row: Row;
  /** Its name; '' while all rows are of one project. */
  project: string;
  selected: boolean;
  open: boolean;
  cursor: boolean;
  gone: boolean;
  counts: readonly number[] | undefined;
  from: number;
  step: 'hour' | 'day';
}

// There are a hundred of them, and few change.
class Line extends Component<LineProps> {
  override shouldComponentUpdate(next: LineProps): boolean {
    const now = this.props;
    return (Object.keys(next) as (keyof LineProps)[]).some((name) => next[name] !== now[name]);
  }

  override render({ row, project, selected: on, open, cursor: at, gone, counts, from, step }: LineProps) {
    const key = keyOf(row);
    const href = hrefWith(recordParams(row));
    const name = shortClass(row.exception_class);
    return (
      <div
        role="row" class={`line${on ? ' selected' : ''}${open ? ' open' : ''}${at ? ' cursor' : ''}${gone ? ' gone' : ''} is-${row.status}`} data-key={key}
        onClick={(e) => onRow(e, key)} aria-selected={on}
      >
        <span role="cell" class="c-check">
          <input type="checkbox" aria-label={`Select ${visible(row.message_preview || row.exception_class || row.signature)}`} checked={on} onClick={(e) => onCheck(e, key)} />
        </span>
        <span role="cell" class="c-level"><LevelBadge level={row.level} /></span>
        <span role="cell" class="c-message">
          <a href={href} onClick={(e) => { cursor.value = key; followHere(e); }} onFocus={() => { cursor.value = key; }} aria-current={open ? 'true' : undefined} title={visible([row.exception_class, row.message_preview].filter(Boolean).join(': '))}>
            {name ? <Safe class="class" text={name} /> : null}
            {name && row.message_preview ? ' ' : null}
            {row.message_preview || !name ? <Safe text={row.message_preview || 'no message'} /> : null}
          </a>
        </span>
        <span role="cell" class="c-where" title={visible(row.file ? `${row.file}:${row.line}` : '')}><Where file={row.file} line={row.line} /></span>
        <span role="cell" class="c-spark"><Spark counts={counts} from={from} step={step} /></span>
        <span role="cell" class="c-count"><Count n={row.count} /></span>
        <span role="cell" class="c-users">{row.users > 0 ? <Count n={row.users} /> : null}</span>
        <span role="cell" class="c-first"><Time iso={row.first_seen} /></span>
        <span role="cell" class="c-last"><Time iso={row.last_seen} /></span>
        <span role="cell" class="c-book">{row.type}</span>
        {project ? <span role="cell" class="c-project" title={visible(project)}><Safe text={project} /></span> : null}
        <span role="cell" class="c-status">
          {gone ? <span class="badge tone-bad">deleted</span> : <StatusBadge status={row.status} regressed={row.regressed} />}
          {row.overflow ? <OverflowBadge /> : null}
        </span>
      </div>
    );
  }
}

// The address at this moment: filters may have changed since this row was drawn.
function followHere(event: MouseEvent): void {
  const link = event.currentTarget as HTMLAnchorElement;
  const line = link.closest<HTMLElement>('[data-key]')!;
  const [type, signature] = line.dataset.key!.split(':');
  link.href = hrefWith(recordParams({ type: type as Book, signature: signature! }));
  follow(event);
}

/** A click anywhere in a row is a click on its link, unless text is being selected. */
function onRow(event: MouseEvent, key: string): void {
  const target = event.target as Element;
  if (target.closest('a, input, button') || !getSelection()?.isCollapsed) return;
  if (target.closest('.c-check')) {
    select(key);
    return;
  }
  (event.currentTarget as Element).querySelector('a')?.click();
}

let anchor = '';

/** Shift selects all rows from the last one to this one. */
function onCheck(event: MouseEvent, key: string): void {
  const on = (event.currentTarget as HTMLInputElement).checked;
  const keys = [...document.querySelectorAll<HTMLElement>('.list-rows [data-key]')].map((e) => e.dataset.key!);
  const a = keys.indexOf(anchor);
  const b = keys.indexOf(key);
  if (event.shiftKey && a >= 0) keys.slice(Math.min(a, b), Math.max(a, b) + 1).forEach((k) => select(k, on));
  else select(key, on);
  anchor = key;
}

/** Puts the focus on a row's link. */
export function focusRow(key: string): void {
  document.querySelector<HTMLElement>(`.list-rows [data-key="${CSS.escape(key)}"] a`)?.focus({ preventScroll: false });
}

/** Scrolls a row into view without the focus. */
export function showRow(key: string): void {
  document.querySelector(`.list-rows [data-key="${CSS.escape(key)}"]`)?.scrollIntoView({ block: 'nearest' });
}

/** The end of a path matters most, so the beginning is cut. */
function Where({ file, line }: { file: string; line: number }) {
  if (!file) return null;
  const at = Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1;
  return (
    <span class="where">
      {at > 0 ? <Safe class="folder" text={file.slice(0, at)} /> : null}
      <Safe class="file" text={file.slice(at) + (line ? `:${line}` : '')} />
    </span>
  );
}

const sparkBox = { width: 72, height: 16 };

function Spark({ counts, from, step }: { counts: readonly number[] | undefined; from: number; step: 'hour' | 'day' }) {
  if (!counts) return null;
  const words = sparkTitle(counts, from, step, (ms) => bucket(ms, step));
  return (
    <span title={words} class="spark">
      <svg viewBox={`0 0 ${sparkBox.width} ${sparkBox.height}`} preserveAspectRatio="none" aria-hidden="true">
        <path d={`M0 ${sparkBox.height - 0.25}H${sparkBox.width}`} class="base" />
        <path d={sparkPath(counts, sparkBox)} class="bars" />
      </svg>
      <span class="offscreen">{words}</span>
    </span>
  );
}

function Nothing({ page }: { page: Loaded }) {
  if (page.meta.total > 0) {
    return (
      <Empty title="This page is empty">
        <p>There are only {fullCount(page.meta.total)} records that match.</p>
        <Button onClick={() => change({ page: '' })}>Go to the first page</Button>
      </Empty>
    );
  }
  if (narrowing(filters.value).length === 0) {
    return (
      <Empty title="No errors yet">
        <p>{chosen.value ? 'This project has no record.' : 'There is no record.'}</p>
        {chosenProject.value ? <p><PageLink to={{ view: 'projects', id: chosenProject.value.id }}>Its DSN, and code that sends a first error</PageLink></p> : null}
        {chosen.value ? <Button onClick={() => change({ project: '' })}>Show all projects</Button> : null}
      </Empty>
    );
  }
  return (
    <Empty title="No record matches">
      <p>Nothing in the ledger fits all of the filters.</p>
      <Button onClick={clearFilters}>Clear the filters</Button>
    </Empty>
  );
}

export function clearFilters(): void {
  change(emptied(filters.peek()));
}

function Pager({ page }: { page: Loaded }) {
  const { meta, rows } = page;
  const from = (meta.page - 1) * meta.limit + 1;
  return (
    <nav class="pager" aria-label="Pages">
      <span class="num">{fullCount(from)}–{fullCount(from + rows.length - 1)} of {fullCount(meta.total)}</span>
      <span class="row">
        <Button kind="quiet" disabled={meta.page <= 1} onClick={() => change({ page: meta.page <= 2 ? '' : meta.page - 1 })}>‹ Previous</Button>
        <Button kind="quiet" disabled={meta.next_page === 0} onClick={() => change({ page: meta.next_page })}>Next ›</Button>
      </span>
      <label class="row per-page">
        Rows{' '}
        <select value={String(meta.limit)} onChange={(e) => change({ limit: e.currentTarget.value === String(defaultLimit) ? '' : e.currentTarget.value, page: '' })}>
          {pageSizes(meta.limit).map((n) => <option key={n} value={String(n)}>{n}</option>)}
        </select>
      </label>
    </nav>
  );
}
