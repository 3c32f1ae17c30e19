// What an event told of itself, beside its message.
import type { ComponentChildren } from 'preact';
import type { OneOccurrence } from '../../api/occurrences';
import type { Detail, Payload } from '../../api/types';
import { Safe } from '../../ui/text';
import { Long, Tree } from '../../ui/tree';
import { Crumbs } from './crumbs';
import { Stack } from './stack';

/** one is null for the first sighting of a record without occurrences; first says that the payload is that of the first one. */
export function Told({ record, payload: p, one, first }: { record: Detail; payload: Payload; one: OneOccurrence | null; first: boolean }) {
  const ran = environment(p, one);
  return (
    <>
      <Crumbs payload={p} at={one?.time ?? record.first_seen} />
      <Part title="Stack" open when={Array.isArray(p.exceptions) && p.exceptions.length > 0}><Stack payload={p} /></Part>
      <Part title="Request" open when={!!record.request_uri || !!record.request_method || !!p.request}><Request record={record} payload={p} first={first} /></Part>
      <Part title="Tags" open when={filled(p.tags)}><Pairs of={p.tags!} /></Part>
      <Part title="Where it ran" open when={ran.length > 0}><Facts list={ran} /></Part>
      <Part title="Contexts" open when={filled(p.contexts)}><Tree value={p.contexts} /></Part>
      <Part title="Extra" open when={filled(p.extra)}><Tree value={p.extra} /></Part>
      <Part title="Payload" when><Tree value={p} /></Part>
    </>
  );
}

function filled(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
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

/** A record keeps the line of its first request; of later events the payload tells what there is. */
function Request({ record, payload, first }: { record: Detail; payload: Payload; first: boolean }) {
  const headers = payload.request?.headers;
  const list: Fact[] = [];
  const line = [record.request_method, record.request_uri].filter(Boolean).join(' ');
  if (line) list.push([first ? 'Request' : 'First request', line]);
  if (first && record.user_id) list.push(['User', String(record.user_id)]);
  if (first && record.ip) list.push(['Address', record.ip]);
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

function environment(p: Payload, one: OneOccurrence | null): Fact[] {
  const list = environments.flatMap(([label, name]): Fact[] => (typeof p[name] === 'string' && p[name] ? [[label, p[name]]] : []));
  if (typeof p.handled === 'boolean') list.push(['Handled', p.handled ? 'yes' : 'no: the application did not catch it']);
  if (one && one.level && !list.some(([l]) => l === 'Level')) list.push(['Level', one.level]);
  return list;
}
