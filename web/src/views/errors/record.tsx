// One record, beside the list or in its place.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { getError, type RecordRef } from '../../api/errors';
import { getFacets, type Facets } from '../../api/occurrences';
import type { Detail, Payload, Row, Status } from '../../api/types';
import { place, toCurl, toJSON, toMarkdown } from '../../lib/export';
import { noRecord, recordParams } from '../../lib/filters';
import { keyOf, withNumbersOf } from '../../lib/live';
import { scopeOf } from '../../lib/occurrence';
import { projectName, projectParam } from '../../lib/projects';
import { fullCount } from '../../lib/text';
import { recordTitle } from '../../lib/title';
import { root } from '../../api/client';
import { projects } from '../../projects';
import { change, hrefTo } from '../../router';
import { can, lacking } from '../../session';
import { useOpenTitle } from '../../title';
import { LevelBadge, OverflowBadge, StatusBadge } from '../../ui/badge';
import { Boundary } from '../../ui/boundary';
import { Button, PageLink, toClipboard } from '../../ui/button';
import { useLoad } from '../../ui/load';
import { closeMenu, Menu } from '../../ui/menu';
import { usePaced } from '../../ui/paced';
import { Denied, Failure, Loading } from '../../ui/state';
import { Safe, Time } from '../../ui/text';
import { toast } from '../../ui/toast';
import { Long } from '../../ui/tree';
import { Follow } from '../alerts/follow';
import { move, remove, scopes } from './actions';
import { useAsked } from './asked';
import { FacetBars, Releases, SinceMark } from './facets';
import { showRow } from './list';
import { OccurrenceList } from './occurrences';
import { listed, useShown, type Shown } from './shown';
import { filters, goneKeys, loaded } from './store';
import { Fact, Moment, NoPayload, Strip } from './strip';
import { Part, Told } from './told';
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
  // The list knows of changes first, but not of the numbers of the whole record
  // while its own are those of a choice.
  const inList = loaded.value?.rows.find((r) => keyOf(r) === key);
  const scoped = loaded.value?.meta.scoped === true && inList !== undefined;
  const load = useLoad((signal) => getError(of, signal), `${undone.value} ${scoped ? inList.count : ''}`);
  const whole = load.data && inList && scoped ? withNumbersOf([load.data], [inList])[0] : inList;
  const record: Detail | undefined = load.data && whole ? { ...load.data, ...whole, payload: load.data.payload } : load.data;
  const known: Row | undefined = record ?? inList;
  const shown = useShown(of);
  // What is copied is what is seen.
  const seen = record && shown.data?.payload_available ? { ...record, payload: shown.data.payload ?? {} } : record;
  useOpenTitle(known ? recordTitle(known) : 'Record');
  // The head is one element from the beginning: its heading has the focus.
  return (
    <>
      <Head record={record} title={known?.exception_class || (record ? 'Error' : known?.message_preview || 'Record')}>
        {seen ? <Tools record={seen} at={shown.at} gone={goneKeys.value.has(key)} onMoved={(status) => load.set({ ...record!, status, regressed: status === 'open' && record!.regressed })} /> : null}
      </Head>
      {record ? <Body record={record} shown={shown} within={scoped ? inList.count : undefined} /> : load.error ? <Failure error={load.error} retry={load.reload} /> : <Loading what="Loading the record" />}
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

/** within is its count in the environments, releases and tags that the list is limited to. */
function Body({ record, shown, within }: { record: Detail; shown: Shown; within: number | undefined }) {
  const spread = useFacets(record);
  useEffect(() => { listed.value = { filter: scopeOf(filters.peek()), open: false }; }, []);
  const one = shown.data;
  const first = !one || one.number === 1;
  const told = one?.payload_available ? one.payload : first ? record.payload : null;
  const p: Payload = told ?? {};
  const message = typeof p.message === 'string' && p.message ? p.message : record.message_preview;
  return (
    <div class="record-body" tabIndex={0} role="region" aria-label="Details of the record">
      <div class="record-event">
        <Numbers record={record} facets={spread} within={within} />
        <div class="record-message"><Long text={message || 'no message'} limit={4000} /></div>
        {record.file ? <p class="record-place"><span class="offscreen">Where: </span><Safe text={place(record.file, record.line)} /></p> : null}
        {shown.error ? <Failure error={shown.error} retry={shown.reload} /> : one === undefined ? <Loading what="Loading the occurrence" /> : (
          <>
            <Strip record={record} shown={shown} told={told} first={first} />
            {told ? <Told key={String(one?.position ?? '')} record={record} payload={p} one={one} first={first} /> : (
              <>
                <NoPayload shown={shown} />
                <Part title="What the first sighting told" when><div class="record-event"><Told record={record} payload={record.payload} one={null} first /></div></Part>
              </>
            )}
          </>
        )}
        <p class="dim small">
          {p.truncated?.length ? <>These parts of the context are incomplete: {p.truncated.join(', ')}. </> : null}Signature <code class="mono">{record.signature}</code>, row {record.id}.
        </p>
      </div>
      <div class="record-all">
        <TrendChart of={record} count={record.count} releases={spread?.releases.length ?? record.releases.length} />
        <Sums record={record} />
        {spread ? <><Releases list={spread.releases} /><FacetBars facets={spread} /></> : null}
        <OccurrenceList of={record} at={String(one?.position ?? '')} facets={spread} />
      </div>
    </div>
  );
}

const facetsEvery = 3_000;

/** They are read again now and then while events come, not for each. */
function useFacets(record: Detail) {
  const count = usePaced(record.count, facetsEvery);
  const load = useLoad((signal) => getFacets(record, signal), `${count} ${record.regressed}`);
  return load.data;
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

function Tools({ record, at, gone, onMoved }: { record: Detail; at: string; gone: boolean; onMoved: (status: Status) => void }) {
  const to = (status: Status) => async () => { if (await move([record], status)) onMoved(status); };
  const mayMove = lacking(scopes.status);
  const mayDelete = lacking(scopes.delete);
  useAsked(record, to('muted'));
  if (gone) return <p class="note bad" role="status">This record was deleted.</p>;
  return (
    <div class="tools">
      <StatusBadge status={record.status} regressed={record.regressed} />
      {record.overflow ? <OverflowBadge /> : null}
      {record.status === 'resolved' ? null : <Button disabled={!!mayMove} title={mayMove || 'e'} onClick={() => void to('resolved')()}>Resolve</Button>}
      {record.status === 'muted' ? null : <Button disabled={!!mayMove} title={mayMove || 'm'} onClick={() => void to('muted')()}>Mute</Button>}
      {record.status === 'open' ? null : <Button disabled={!!mayMove} title={mayMove || 'u'} onClick={() => void to('open')()}>Reopen</Button>}
      <Button kind="danger" disabled={!!mayDelete} title={mayDelete || '#'} onClick={() => void remove([record]).then((done) => { if (done) change(noRecord); })}>Delete…</Button>
      <span class="tools-end"><Follow of={record} /><CopyMenu record={record} at={at} /></span>
    </div>
  );
}

/** at is the occurrence that the address names. */
function CopyMenu({ record, at }: { record: Detail; at: string }) {
  const link = location.origin + hrefTo({ ...recordParams(record, at), project: '' });
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

/** How often and when it was seen, in a line. */
function Numbers({ record, facets, within }: { record: Detail; facets: Facets | undefined; within: number | undefined }) {
  const users = facets?.users.count ?? record.users ?? 0;
  return (
    <dl class="numbers">
      <Fact name="Seen"><b class="num">{fullCount(record.count)}×</b></Fact>
      {within === undefined ? null : <Fact name="Within the filter"><b class="num">{fullCount(within)}×</b></Fact>}
      {users > 0 ? <Fact name="Users"><b class="num">{fullCount(users)}</b></Fact> : null}
      {(projects.value?.length ?? 0) > 1 ? <Fact name="Project"><Safe text={projectName(projects.value ?? [], record)} /></Fact> : null}
      <Fact name="First"><Time iso={record.first_seen} sentence /></Fact>
      <Fact name="Last"><Time iso={record.last_seen} sentence /></Fact>
      <SinceMark facets={facets} regressed={record.regressed && record.status === 'open'} />
    </dl>
  );
}

/** What belongs to all occurrences. */
function Sums({ record }: { record: Detail }) {
  return (
    <dl class="sums">
      <Fact name="First seen"><Moment iso={record.first_seen} /></Fact>
      <Fact name="Last seen"><Moment iso={record.last_seen} /></Fact>
      <Fact name="Project"><PageLink to={{ project: projectParam(record) }}><Safe text={projectName(projects.value ?? [], record)} /></PageLink></Fact>
      <Fact name="Book">{record.type}</Fact>
    </dl>
  );
}
