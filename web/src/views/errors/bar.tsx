// The area above the rows: filters, and the selected or waiting records.
import { signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../../api/client';
import { findEvent } from '../../api/occurrences';
import { levels, statuses, type Row, type SparkRange, type Status } from '../../api/types';
import {
  chips, describe, instantOf, labelOf, localOf, members, narrowing, parseViews, recordParams, scopeWords, searchedTag, tagsOf, toggled, viewQuery, withTag, withView, type FilterName, type SavedView,
} from '../../lib/filters';
import { keyOf } from '../../lib/live';
import { eventIdOf } from '../../lib/occurrence';
import { fullCount, plural } from '../../lib/text';
import { shortcuts } from '../../keyboard';
import { live } from '../../live';
import { change, follow, go, query } from '../../router';
import { lacking } from '../../session';
import { Button } from '../../ui/button';
import { Check, TextField } from '../../ui/field';
import { closeMenu, Menu } from '../../ui/menu';
import { Safe } from '../../ui/text';
import { toast } from '../../ui/toast';
import { move, remove, scopes } from './actions';
import { chosen, projects } from '../../projects';
import { ProjectMarks } from '../marks';
import { clearFilters } from './list';
import { moveMatching, removeMatching } from './matching';
import { NamePicker, TagPicker } from './names';
import { toTop } from './shown';
import { allSelected, filters, held, loaded, release, selected, selectMatching, setSparkRange, sparkRange } from './store';

/** Changes a filter: from the first page again, with no record open. */
function set(changes: Record<string, string>): void {
  change({ ...changes, page: '' });
}

export function Bar() {
  const [unfolded, setUnfolded] = useState(false);
  const n = narrowing(filters.value).filter((name) => name !== 'search').length;
  return (
    <div class="bar">
      <div class={`filters${unfolded ? ' unfolded' : ''}`} role="search" aria-label="Filters">
        <Search />
        <StatusFilter />
        <Button class="filters-toggle" aria-expanded={unfolded} onClick={() => setUnfolded(!unfolded)}>Filters{n > 0 ? ` (${n})` : ''}</Button>
        <div class="filters-rest">
          <LevelFilter />
          <BookFilter />
          <NamePicker name="environment" />
          <NamePicker name="release" />
          <TagPicker />
          <TimeFilter />
          <More />
          <button type="button" class={`btn${filters.value.hide_noise ? ' on' : ''}`} aria-pressed={filters.value.hide_noise ? 'true' : 'false'}
            title="Hides muted records, levels below warning, and what the noise patterns match" onClick={() => set({ hide_noise: filters.value.hide_noise ? '' : '1' })}>
            Hide noise
          </button>
          <Views />
        </div>
      </div>
      {selected.value.size > 0 ? <Bulk /> : <Info />}
    </div>
  );
}

// Longer than the time between two letters, and short enough to feel immediate.
const typing = 250;

function Search() {
  const value = filters.value.search ?? '';
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const sent = useRef(value);
  // The address changed without this field: Back, or a saved view. Update at
  // once, before the next letter is typed.
  useLayoutEffect(() => {
    if (value !== sent.current) {
      sent.current = value;
      setText(value);
    }
  }, [value]);
  const send = (next: string, entered = false) => {
    clearTimeout(timer.current);
    const tag = searchedTag(next);
    // A tag ends with Enter: its value is still being typed.
    if (/^\s*tag:/.test(next) && !entered) return;
    if (tag) {
      empty();
      change({ search: '', page: '', tag: tagsOf(filters.peek().tag).includes(tag) ? filters.peek().tag : withTag(filters.peek().tag, tag) });
      return;
    }
    const id = eventIdOf(next);
    if (id) void openEvent(id).then((found) => (found ? empty() : search(next)));
    else search(next);
  };
  const empty = () => {
    sent.current = '';
    setText('');
  };
  const search = (next: string) => {
    sent.current = next.trim();
    const was = query.peek().get('search') ?? '';
    // A word is one step of Back, not one for each letter.
    change({ search: next.trim(), page: '' }, was && next ? 'replace' : 'push');
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <div class="search">
      <input
        type="search" aria-label="Search message, class, file, request, signature or event id; tag:key:value for a tag" placeholder="Search message, class, file, event id, tag:key:value" value={text} spellcheck={false} autocomplete="off"
        onInput={(e) => {
          const next = e.currentTarget.value;
          setText(next);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => send(next), typing);
        }}
        onKeyDown={(e) => { if (e.key === 'Enter') send(e.currentTarget.value, true); }}
      />
      {text || !shortcuts.value ? null : <kbd aria-hidden="true">/</kbd>}
    </div>
  );
}

/** Opens the occurrence of an event id, and limits the list to its record; false when there is none, as for a signature. */
async function openEvent(id: string): Promise<boolean> {
  try {
    const { record, occurrence } = await findEvent(id);
    change({ ...recordParams(record, occurrence.position), search: '', event_id: id, page: '' });
    toTop();
    return true;
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) toast.failed(error);
    return false;
  }
}

function StatusFilter() {
  const on = members(filters.value.status);
  return (
    <div class="segments status-filter" role="group" aria-label="Status">
      <SegmentButton on={on.length === 0} onClick={() => set({ status: '' })}>All</SegmentButton>
      {statuses.map((s) => (
        <SegmentButton key={s} on={on.includes(s)} onClick={(e) => set({ status: e.ctrlKey || e.metaKey || e.shiftKey ? toggled(filters.value.status, s, statuses) : on.length === 1 && on[0] === s ? '' : s })}>
          {s[0]!.toUpperCase() + s.slice(1)}
        </SegmentButton>
      ))}
    </div>
  );
}

function SegmentButton({ on, onClick, children }: { on: boolean; onClick: (e: MouseEvent) => void; children: string }) {
  return <button type="button" class={on ? 'on' : undefined} aria-pressed={on} onClick={onClick}>{children}</button>;
}

function LevelFilter() {
  const on = members(filters.value.levels);
  return (
    <Menu label={on.length === 0 ? 'Level' : on.length <= 2 ? on.join(', ') : `${on.length} levels`} on={on.length > 0}>
      <fieldset class="checks">
        <legend class="offscreen">Level</legend>
        {[...levels].reverse().map((l) => (
          <Check key={l} label={<span class={`level-${l}`}>{l}</span>} checked={on.includes(l)} onChange={() => set({ levels: toggled(filters.peek().levels, l, levels) })} />
        ))}
      </fieldset>
      <div class="menu-end">
        <Button kind="quiet" onClick={() => set({ levels: 'error,critical,fatal' })}>Error and above</Button>
        <Button kind="quiet" disabled={on.length === 0} onClick={() => set({ levels: '' })}>Any</Button>
      </div>
    </Menu>
  );
}

function BookFilter() {
  const value = filters.value.types ?? '';
  return (
    <select aria-label="Book" class={value ? 'on' : undefined} value={value} onChange={(e) => set({ types: e.currentTarget.value })}>
      <option value="">Both books</option>
      <option value="system">System</option>
      <option value="database">Database</option>
    </select>
  );
}

const times: readonly (readonly [string, string])[] = [['', 'Any time'], ['1h', 'Last hour'], ['24h', 'Last 24 hours'], ['7d', 'Last 7 days'], ['14d', 'Last 14 days'], ['30d', 'Last 30 days']];

function TimeFilter() {
  const value = filters.value.date_range ?? '';
  const known = times.find(([v]) => v === value);
  const [start = '', end = ''] = value.includes('..') ? value.split('..') : [];
  const [from, setFrom] = useState(localOf(start));
  const [to, setTo] = useState(localOf(end));
  useEffect(() => {
    setFrom(localOf(start));
    setTo(localOf(end));
  }, [start, end]);
  return (
    <Menu label={known ? (value ? known[1] : 'Last seen') : 'Last seen in…'} on={value !== ''}>
      <fieldset class="checks">
        <legend class="offscreen">Last seen</legend>
        {times.map(([v, label]) => (
          <label key={v} class="check"><input type="radio" name="date_range" checked={v === value} onChange={(e) => { set({ date_range: v }); closeMenu(e.currentTarget); }} /><span>{label}</span></label>
        ))}
      </fieldset>
      <form class="stack" onSubmit={(e) => {
        e.preventDefault();
        const range = `${instantOf(from)}..${instantOf(to)}`;
        set({ date_range: range === '..' ? '' : range });
        closeMenu(e.currentTarget);
      }}>
        <label class="field"><span>From</span><input type="datetime-local" value={from} onInput={(e) => setFrom(e.currentTarget.value)} /></label>
        <label class="field"><span>To</span><input type="datetime-local" value={to} onInput={(e) => setTo(e.currentTarget.value)} /></label>
        <Button type="submit">Use this range</Button>
      </form>
    </Menu>
  );
}

const more: readonly { name: FilterName; hint?: string; type?: 'number' }[] = [
  { name: 'message', hint: '* stands for anything' }, { name: 'exception_class' }, { name: 'file' }, { name: 'request_uri' }, { name: 'http_method' },
  { name: 'user_id', type: 'number', hint: '0 means no user' }, { name: 'ip', hint: 'or a prefix, 10.0.0.0/8' }, { name: 'min_occurrence', type: 'number' }, { name: 'signature' },
];

function More() {
  const values = filters.value;
  const n = more.filter((m) => values[m.name]).length;
  const [draft, setDraft] = useState<Partial<Record<FilterName, string>>>({});
  const key = more.map((m) => values[m.name] ?? '').join('\n');
  useEffect(() => setDraft(Object.fromEntries(more.map((m) => [m.name, values[m.name] ?? '']))), [key]);
  return (
    <div class="more-filters-box">
      <Menu label={n > 0 ? `More (${n})` : 'More'} name={n > 0 ? `More filters, ${n} set` : 'More filters'} on={n > 0} class="more-filters">
        <form class="stack" onSubmit={(e) => {
          e.preventDefault();
          set(Object.fromEntries(more.map((m) => [m.name, (draft[m.name] ?? '').trim()])));
          closeMenu(e.currentTarget);
        }}>
          <div class="two">
            {more.map((m) => (
              <TextField key={m.name} label={labelOf(m.name)} hint={m.hint} type={m.type} value={draft[m.name] ?? ''} onInput={(v) => setDraft((d) => ({ ...d, [m.name]: v }))} autocomplete="off" />
            ))}
          </div>
          <div class="menu-end">
            <Button kind="quiet" onClick={() => setDraft({})}>Empty the fields</Button>
            <Button type="submit" kind="main">Filter</Button>
          </div>
        </form>
      </Menu>
    </div>
  );
}

const viewsPlace = 'errata.views';
const saved = signal<SavedView[]>(parseViews(localStorage.getItem(viewsPlace)));

function store(list: SavedView[]): void {
  saved.value = list;
  localStorage.setItem(viewsPlace, JSON.stringify(list));
}

function Views() {
  const [name, setName] = useState('');
  const here = viewQuery(query.value);
  const current = saved.value.find((v) => v.query === here);
  return (
    <Menu label={current ? <Safe text={current.name} /> : 'Views'} name="Saved views" on={current !== undefined} align="end">
      {saved.value.length > 0 ? (
        <ul class="views">
          {saved.value.map((v) => (
            <li key={v.name}>
              <a href={`${location.pathname}?${v.query}`} aria-current={v === current ? 'true' : undefined} onClick={(e) => { follow(e); closeMenu(e.currentTarget); }}><Safe text={v.name} /></a>
              <Button kind="quiet" class="icon" aria-label={`Delete the view ${v.name}`} onClick={() => store(saved.value.filter((o) => o !== v))}>×</Button>
            </li>
          ))}
        </ul>
      ) : <p class="dim">No saved views. They stay in this browser.</p>}
      <form class="row" onSubmit={(e) => {
        e.preventDefault();
        if (!name.trim()) return;
        store(withView(saved.value, { name: name.trim(), query: here }));
        setName('');
        closeMenu(e.currentTarget);
        toast.good('View saved in this browser.');
      }}>
        <input aria-label="Name of the view" placeholder="Name for these filters" value={name} onInput={(e) => setName(e.currentTarget.value)} maxLength={60} />
        <Button type="submit" disabled={!name.trim()}>Save</Button>
      </form>
      {here ? <Button kind="quiet" onClick={() => go(new URLSearchParams())}>All errors, without filters</Button> : null}
    </Menu>
  );
}

function Info() {
  const set_ = filters.value;
  // Without the names of projects there is no switcher.
  const shown: FilterName[] = [...(chosen.value && !projects.value ? ['project' as const] : []), ...chips(set_)];
  const total = loaded.value?.meta.total;
  const waiting = held.value;
  return (
    <div class="info">
      <span role="status"><span class="num">{total === undefined ? '' : plural(total, 'record')}</span>{loaded.value?.meta.scoped ? <span class="scoped">: count, first and last are those in <Safe text={scopeWords(set_)} /></span> : null}</span>
      <ProjectMarks />
      {shown.map((name) => (
        <button key={name} type="button" class="chip" title="Remove this filter" onClick={() => set({ [name]: '' })}>
          <Safe text={describe(name, set_[name]!)} /><span aria-hidden="true">×</span>
        </button>
      ))}
      {narrowing(set_).length > 1 ? <Button kind="quiet" class="small" onClick={clearFilters}>Clear all</Button> : null}
      {waiting ? <button type="button" class="pill" onClick={release} aria-live="polite">{waiting.fresh} new</button> : null}
      <span class="info-end">
        <Live />
        <Range />
      </span>
    </div>
  );
}

const liveWords = { connecting: 'connecting', live: 'live', waiting: 'reconnecting', off: 'not live' } as const;

function Live() {
  const state = live.value;
  return <span class={`live is-${state}`} title={state === 'live' ? 'Changes appear by themselves' : 'Changes do not appear by themselves now'}><i aria-hidden="true" />{liveWords[state]}</span>;
}

function Range() {
  return (
    <fieldset class="segments small">
      <legend>Time of the trends</legend>
      {(['24h', '14d'] as SparkRange[]).map((r) => (
        <label key={r}>
          <input type="radio" name="spark" checked={sparkRange.value === r} onChange={() => setSparkRange(r)} />
          <span>{r}</span>
        </label>
      ))}
    </fieldset>
  );
}

function Bulk() {
  const rows = (): Row[] => (loaded.peek()?.rows ?? []).filter((r) => selected.peek().has(keyOf(r)));
  const n = selected.value.size;
  const total = loaded.value?.meta.total ?? 0;
  const all = allSelected.value;
  const more = !all && n === loaded.value?.rows.length && total > n;
  const mayMove = lacking(scopes.status);
  const mayDelete = lacking(scopes.delete);
  // It asks first.
  const dots = all ? '…' : '';
  const to = (status: Status) => () => void (all ? moveMatching(status) : move(rows(), status));
  return (
    <div class="info bulk" role="group" aria-label="Selected records">
      <b class="num" role="status">{all ? `All ${fullCount(total)} that match selected` : `${n} selected`}</b>
      {more ? <Button kind="quiet" onClick={selectMatching}>Select all {fullCount(total)} that match</Button> : null}
      <Button disabled={!!mayMove} title={mayMove || 'e'} onClick={to('resolved')}>Resolve{dots}</Button>
      <Button disabled={!!mayMove} title={mayMove || 'm'} onClick={to('muted')}>Mute{dots}</Button>
      <Button disabled={!!mayMove} title={mayMove || 'u'} onClick={to('open')}>Reopen{dots}</Button>
      <Button kind="danger" disabled={!!mayDelete} title={mayDelete || '#'} onClick={() => void (all ? removeMatching() : remove(rows()))}>Delete…</Button>
      <Button kind="quiet" onClick={() => { selected.value = new Set(); }}>Clear the selection</Button>
      {held.value ? <button type="button" class="pill" onClick={release}>{held.value.fresh} new</button> : null}
    </div>
  );
}
