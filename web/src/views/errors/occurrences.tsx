// All occurrences of a record, the newest first, and those that a filter finds.
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../../api/client';
import type { RecordRef } from '../../api/errors';
import { listOccurrences, occurrenceFilters, type Facets, type Occurrence, type OccurrenceFilter } from '../../api/occurrences';
import { instantOf, localOf } from '../../lib/filters';
import { fullCount } from '../../lib/text';
import { exact } from '../../lib/time';
import { follow, hrefWith } from '../../router';
import { Button } from '../../ui/button';
import { TextField } from '../../ui/field';
import { Failure, Loading } from '../../ui/state';
import { Table } from '../../ui/table';
import { Safe, Time } from '../../ui/text';
import { arrived, listed, toTop } from './shown';

const chunk = 25;

export function OccurrenceList({ of, at, facets }: { of: RecordRef; at: string; facets: Facets | undefined }) {
  const { open } = listed.value;
  return (
    <details class="part" id="occurrences" open={open} onToggle={(e) => { const now = e.currentTarget.open; if (now !== listed.peek().open) listed.value = { ...listed.peek(), open: now }; }}>
      <summary><h3>Occurrences</h3></summary>
      {open ? <div class="part-body stack"><Filter facets={facets} /><Rows of={of} at={at} /></div> : null}
    </details>
  );
}

function Rows({ of, at }: { of: RecordRef; at: string }) {
  const { filter } = listed.value;
  const [state, setState] = useState<{ rows: Occurrence[]; cursor: string; loading: boolean; error?: unknown }>({ rows: [], cursor: '', loading: true });
  const running = useRef<AbortController | null>(null);
  const load = async (rows: Occurrence[], cursor: string) => {
    running.current?.abort();
    const mine = new AbortController();
    running.current = mine;
    setState((s) => ({ ...s, loading: true }));
    try {
      const page = await listOccurrences(of, filter, cursor, chunk, mine.signal);
      if (!mine.signal.aborted) setState({ rows: [...rows, ...page.list], cursor: page.cursor, loading: false });
    } catch (error) {
      if (mine.signal.aborted) return;
      // A record that was counted before there were occurrences has none.
      if (error instanceof ApiError && error.status === 404) setState({ rows: [], cursor: '', loading: false });
      else setState((s) => ({ ...s, loading: false, error }));
    }
  };
  useEffect(() => {
    void load([], '').then(arrived);
    return () => running.current?.abort();
  }, [JSON.stringify(filter)]);
  if (state.error) return <Failure error={state.error} retry={() => void load([], '')} />;
  if (state.loading && state.rows.length === 0) return <Loading what="Loading occurrences" />;
  if (state.rows.length === 0) return <p class="dim">{Object.keys(filter).length > 0 ? 'No occurrence that is kept matches.' : 'No single occurrence of this record is kept.'}</p>;
  return (
    <>
      <Table
        label="Occurrences" rows={state.rows} id={(o) => String(o.position)}
        columns={[
          { name: 'number', head: '#', right: true, cell: (o) => <Open of={o} current={String(o.position) === at} /> },
          { name: 'time', head: 'Time', cell: (o) => <span class="num" title={exact(o.time)}><Time iso={o.time} /> <span class="dim">{exact(o.time).slice(5, 19)}</span></span> },
          { name: 'environment', head: 'Environment', cell: (o) => <Safe text={o.environment} /> },
          { name: 'release', head: 'Release', cell: (o) => <Safe text={o.release} /> },
          { name: 'user', head: 'User', cell: (o) => <Safe text={o.user} /> },
          { name: 'server', head: 'Server', cell: (o) => <Safe text={o.server} /> },
        ]}
      />
      {state.cursor ? <div class="row"><Button busy={state.loading} onClick={() => void load(state.rows, state.cursor)}>More</Button></div> : null}
    </>
  );
}

function Open({ of, current }: { of: Occurrence; current: boolean }) {
  return (
    <a href={hrefWith({ occurrence: String(of.position) })} aria-current={current ? 'true' : undefined} title={of.payload_available ? undefined : 'The log does not hold what this event told any more'}
      onClick={(e) => { follow(e); toTop(); }}>
      {fullCount(of.number)}{of.payload_available ? null : <span class="dim" aria-label=", without its context">°</span>}
    </a>
  );
}

function Filter({ facets }: { facets: Facets | undefined }) {
  const { filter } = listed.value;
  const [draft, setDraft] = useState<OccurrenceFilter>(filter);
  useEffect(() => setDraft(filter), [filter]);
  const field = (name: keyof OccurrenceFilter, label: string, offers: readonly string[] = [], placeholder?: string) => (
    <TextField label={label} value={draft[name] ?? ''} offers={offers} placeholder={placeholder} autocomplete="off" onInput={(v) => setDraft((d) => ({ ...d, [name]: v }))} />
  );
  const time = (name: 'from' | 'to', label: string) => (
    <label class="field"><span>{label}</span><input type="datetime-local" value={localOf(draft[name] ?? '')} onInput={(e) => { const value = instantOf(e.currentTarget.value); setDraft((d) => ({ ...d, [name]: value })); }} /></label>
  );
  const set = (next: OccurrenceFilter) => { listed.value = { ...listed.peek(), filter: Object.fromEntries(occurrenceFilters.flatMap((n) => (next[n]?.trim() ? [[n, next[n].trim()]] : []))) }; };
  const on = Object.keys(filter).length;
  return (
    <details class="occurrence-filter" open={on > 0}>
      <summary>Filter{on > 0 ? ` (${on})` : ''}</summary>
      <form class="stack" onSubmit={(e) => { e.preventDefault(); set(draft); }}>
        <div class="three">
          {field('environment', 'Environment', facets?.environments.map((v) => v.value).filter(Boolean))}
          {field('release', 'Release', facets?.releases.map((v) => v.value).filter(Boolean))}
          {field('user', 'User', facets?.users.top.map((v) => v.value))}
          {field('tag', 'Tag', Object.entries(facets?.tags ?? {}).flatMap(([key, list]) => list.map((v) => `${key}:${v.value}`)), 'key:value')}
          {time('from', 'From')}
          {time('to', 'To')}
        </div>
        <div class="row">
          <Button type="submit" kind="main">Filter</Button>
          <Button kind="quiet" disabled={on === 0} onClick={() => set({})}>All of them</Button>
        </div>
      </form>
    </details>
  );
}
