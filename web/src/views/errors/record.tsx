// One record, beside the list or in its place.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { getError, type RecordRef } from '../../api/errors';
import type { Detail, Payload, Row, Status } from '../../api/types';
import { place, toCurl, toJSON, toMarkdown } from '../../lib/export';
import { noRecord, recordParams } from '../../lib/filters';
import { keyOf } from '../../lib/live';
import { fullCount } from '../../lib/text';
import { exact } from '../../lib/time';
import { recordTitle } from '../../lib/title';
import { root } from '../../api/client';
import { change, hrefTo } from '../../router';
import { can, lacking } from '../../session';
import { useOpenTitle } from '../../title';
import { LevelBadge, OverflowBadge, StatusBadge } from '../../ui/badge';
import { Boundary } from '../../ui/boundary';
import { Button, toClipboard } from '../../ui/button';
import { useLoad } from '../../ui/load';
import { closeMenu, Menu } from '../../ui/menu';
import { Denied, Failure, Loading } from '../../ui/state';
import { Safe, Time } from '../../ui/text';
import { toast } from '../../ui/toast';
import { Long, Tree } from '../../ui/tree';
import { move, remove, scopes } from './actions';
import { showRow } from './list';
import { Crumbs, Stack } from './stack';
import { goneKeys, loaded } from './store';
import { undone } from './undo';
import { TrendChart } from './trend';

export function Record({ of }: { of: RecordRef }) {
  const key = keyOf(of);
  const may = can('Tools/GetErrorLog');
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    // The buttons of the record follow its heading.
    box.current?.querySelector<HTMLElement>('h2')?.focus({ preventScroll: true });
    showRow(key);
  }, []);
  return (
    <section class="record" ref={box} aria-label="Record">
      {may ? <Boundary what="The record"><Whole of={of} /></Boundary> : <><Head record={undefined} title="Record" /><Denied scope="Tools/GetErrorLog" what="Your key may not open records" /></>}
    </section>
  );
}

function Whole({ of }: { of: RecordRef }) {
  const key = keyOf(of);
  const load = useLoad((signal) => getError(of, signal), String(undone.value));
  // The list knows of changes first.
  const inList = loaded.value?.rows.find((r) => keyOf(r) === key);
  const record: Detail | undefined = load.data && inList ? { ...load.data, ...inList, payload: load.data.payload } : load.data;
  const known: Row | undefined = record ?? inList;
  useOpenTitle(known ? recordTitle(known) : 'Record');
  // The head is one element from the beginning: its heading has the focus.
  return (
    <>
      <Head record={record} title={known?.exception_class || (record ? 'Error' : known?.message_preview || 'Record')}>
        {record ? <Tools record={record} gone={goneKeys.value.has(key)} onMoved={(status) => load.set({ ...record, status, regressed: status === 'open' && record.regressed })} /> : null}
      </Head>
      {record ? <Body record={record} /> : load.error ? <Failure error={load.error} retry={load.reload} /> : <Loading what="Loading the record" />}
    </>
  );
}

function Head({ record, title, children }: { record: Row | undefined; title: string; children?: ComponentChildren }) {
  return (
    <header class="record-head">
      <div class="record-title">
        <h2 tabIndex={-1}>{record ? <><LevelBadge level={record.level} /> </> : null}<Safe text={title} /></h2>
        <Walk row={record} />
      </div>
      {children}
    </header>
  );
}

function Body({ record }: { record: Detail }) {
  const p: Payload = record.payload ?? {};
  const message = typeof p.message === 'string' && p.message ? p.message : record.message_preview;
  return (
    <div class="record-body" tabIndex={0} role="region" aria-label="Details of the record">
      <div class="record-message"><Long text={message || 'no message'} limit={4000} /></div>
      <Sums record={record} />
      <TrendChart of={record} count={record.count} />
      <Part title="Stack" open when={Array.isArray(p.exceptions) && p.exceptions.length > 0}><Stack payload={p} /></Part>
      <Part title="Request" open when={!!record.request_uri || !!record.request_method || !!p.request}><Request record={record} /></Part>
      <Part title="Tags" open when={!!p.tags && Object.keys(p.tags).length > 0}><Pairs of={p.tags!} /></Part>
      <Part title="Where it ran" open when={environment(p).length > 0}><Facts list={environment(p)} /></Part>
      <Crumbs payload={p} part={(content, n) => <Part title={`Breadcrumbs (${n})`} when>{content}</Part>} />
      <Part title="Extra" open when={!!p.extra && Object.keys(p.extra).length > 0}><Tree value={p.extra} /></Part>
      <Part title="Payload" when><Tree value={p} /></Part>
      <p class="dim small">
        The context is that of the first sighting{p.truncated?.length ? `; these parts of it are incomplete: ${p.truncated.join(', ')}` : ''}. Signature <code class="mono">{record.signature}</code>, row {record.id}.
      </p>
    </div>
  );
}

/** To the previous and next record of the list, and back to the list. */
function Walk({ row }: { row: Row | undefined }) {
  const list = loaded.value?.rows ?? [];
  const at = row ? list.findIndex((r) => keyOf(r) === keyOf(row)) : -1;
  const to = (r: Row | undefined) => () => r && change(recordParams(r), 'replace');
  return (
    <div class="walk">
      {at >= 0 ? <span class="dim num">{at + 1} / {list.length}</span> : null}
      <Button kind="quiet" class="icon" aria-label="Previous record" title="Previous (k)" disabled={at <= 0} onClick={to(list[at - 1])}>↑</Button>
      <Button kind="quiet" class="icon" aria-label="Next record" title="Next (j)" disabled={at < 0 || at >= list.length - 1} onClick={to(list[at + 1])}>↓</Button>
      <Button kind="quiet" class="icon" aria-label="Close the record" title="Close (Esc)" onClick={() => change(noRecord)}>×</Button>
    </div>
  );
}

function Tools({ record, gone, onMoved }: { record: Detail; gone: boolean; onMoved: (status: Status) => void }) {
  const to = (status: Status) => async () => { if (await move([record], status)) onMoved(status); };
  const mayMove = lacking(scopes.status);
  const mayDelete = lacking(scopes.delete);
  if (gone) return <p class="note bad" role="status">This record was deleted.</p>;
  return (
    <div class="tools">
      <StatusBadge status={record.status} regressed={record.regressed} />
      {record.overflow ? <OverflowBadge /> : null}
      {record.status === 'resolved' ? null : <Button disabled={!!mayMove} title={mayMove || 'e'} onClick={() => void to('resolved')()}>Resolve</Button>}
      {record.status === 'muted' ? null : <Button disabled={!!mayMove} title={mayMove || 'm'} onClick={() => void to('muted')()}>Mute</Button>}
      {record.status === 'open' ? null : <Button disabled={!!mayMove} title={mayMove || 'u'} onClick={() => void to('open')()}>Reopen</Button>}
      <Button kind="danger" disabled={!!mayDelete} title={mayDelete || '#'} onClick={() => void remove([record]).then((done) => { if (done) change(noRecord); })}>Delete…</Button>
      <span class="tools-end"><CopyMenu record={record} /></span>
    </div>
  );
}

function CopyMenu({ record }: { record: Detail }) {
  const link = location.origin + hrefTo(recordParams(record));
  const kinds: readonly [string, () => string][] = [
    ['Link', () => link],
    ['Markdown', () => toMarkdown(record, link)],
    ['JSON', () => toJSON(record)],
    ['curl', () => toCurl(record, location.origin + root.replace(/\/$/, ''))],
    ['Signature', () => record.signature],
  ];
  const copy = (name: string, text: () => string) => async (event: MouseEvent) => {
    const button = event.currentTarget as Element;
    if (await toClipboard(text())) toast.good(`Copied: ${name}.`);
    else toast.bad('The browser did not let this page copy. Select the text and copy it by hand.');
    closeMenu(button);
  };
  return (
    <Menu label="Copy" name="Copy the record" align="end">
      <div class="menu-list">
        {kinds.map(([name, text]) => <Button key={name} kind="quiet" onClick={(e) => void copy(name, text)(e)}>{name === 'Link' || name === 'Signature' ? name : `As ${name}`}</Button>)}
      </div>
    </Menu>
  );
}

/** The most important numbers. */
function Sums({ record }: { record: Detail }) {
  const release = record.payload?.release;
  return (
    <dl class="sums">
      <div><dt>Seen</dt><dd class="num">{fullCount(record.count)}×</dd></div>
      <div><dt>First</dt><dd><Moment iso={record.first_seen} /></dd></div>
      <div><dt>Last</dt><dd><Moment iso={record.last_seen} /></dd></div>
      {release ? <div><dt>First seen in</dt><dd><Safe class="mono" text={release} /></dd></div> : null}
      <div><dt>Book</dt><dd>{record.type}</dd></div>
      {record.file ? <div class="wide"><dt>Where</dt><dd><Safe class="mono" text={place(record.file, record.line)} /></dd></div> : null}
    </dl>
  );
}

/** A time in both forms, because a touch screen has no hover. */
function Moment({ iso }: { iso: string }) {
  return <><Time iso={iso} /> <span class="dim num">{exact(iso).replace(/\.\d+/, '')}</span></>;
}

export function Part({ title, open, when, children }: { title: string; open?: boolean; when: boolean; children: ComponentChildren }) {
  if (!when) return null;
  return (
    <details class="part" open={open}>
      <summary><h3>{title}</h3></summary>
      <div class="part-body">{children}</div>
    </details>
  );
}

type Fact = readonly [string, string];

function Facts({ list }: { list: readonly Fact[] }) {
  return <dl class="facts">{list.map(([name, value]) => <div key={name}><dt>{name}</dt><dd><Long text={value} /></dd></div>)}</dl>;
}

function Request({ record }: { record: Detail }) {
  const headers = record.payload?.request?.headers;
  const list: Fact[] = [];
  const line = [record.request_method, record.request_uri].filter(Boolean).join(' ');
  if (line) list.push(['Request', line]);
  if (record.user_id) list.push(['User', String(record.user_id)]);
  if (record.ip) list.push(['Address', record.ip]);
  return (
    <div class="stack">
      <Facts list={list} />
      {headers && Object.keys(headers).length > 0 ? <Pairs of={headers} /> : null}
    </div>
  );
}

function Pairs({ of }: { of: { [name: string]: unknown } }) {
  return (
    <dl class="facts pairs">
      {Object.entries(of).map(([name, value]) => (
        <div key={name}><dt><Safe text={name} /></dt><dd><Long text={typeof value === 'string' ? value : JSON.stringify(value)} /></dd></div>
      ))}
    </dl>
  );
}

const environments: readonly (readonly [string, keyof Payload & string])[] = [
  ['Release', 'release'], ['Environment', 'environment'], ['Server', 'server_name'], ['Transaction', 'transaction'], ['Logger', 'logger'], ['User', 'user'],
  ['Platform', 'platform'], ['Runtime', 'runtime'], ['System', 'os'], ['SDK', 'sdk'], ['Trace', 'trace_id'], ['Span', 'span_id'], ['Received as', 'source'], ['Event', 'event_id'],
];

function environment(p: Payload): Fact[] {
  const list = environments.flatMap(([label, name]): Fact[] => (typeof p[name] === 'string' && p[name] ? [[label, p[name]]] : []));
  if (typeof p.handled === 'boolean') list.push(['Handled', p.handled ? 'yes' : 'no: the application did not catch it']);
  return list;
}

