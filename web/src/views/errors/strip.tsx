// The occurrence that is shown: which one of all it is, when, where and to whom
// it happened.
import type { ComponentChildren } from 'preact';
import type { OneOccurrence } from '../../api/occurrences';
import type { Detail, Payload } from '../../api/types';
import { fullCount } from '../../lib/text';
import { exact } from '../../lib/time';
import { Button } from '../../ui/button';
import { Note } from '../../ui/state';
import { Safe, Time } from '../../ui/text';
import { show, showNext, toList, type Shown } from './shown';

/**
 * told is its payload, null when it is not kept; first says that it is the first one, to which the record's request belongs.
 */
export function Strip({ record, shown, told, first }: { record: Detail; shown: Shown; told: Payload | null | undefined; first: boolean }) {
  const one = shown.data ?? null;
  const request = first ? [record.request_method, record.request_uri].filter(Boolean).join(' ') : '';
  return (
    <section class={`occurrence${shown.loading ? ' busy' : ''}`} aria-label="The occurrence that is shown" aria-busy={shown.loading}>
      {one ? <Steps record={record} one={one} shown={shown} /> : null}
      <dl class="sums">
        {one ? <Fact name="When"><Moment iso={one.time} /></Fact> : null}
        {one?.user ? <Fact name="User"><Safe text={one.user} /></Fact> : null}
        {one?.release ? <Fact name="Release"><Safe text={one.release} /></Fact> : null}
        {one?.environment ? <Fact name="Environment"><Safe text={one.environment} /></Fact> : null}
        {one?.server ? <Fact name="Server"><Safe text={one.server} /></Fact> : null}
        {request ? <Fact name="Request"><Safe text={request} /></Fact> : one?.transaction ? <Fact name="Transaction"><Safe text={one.transaction} /></Fact> : null}
        {told?.handled === false ? <Fact name="Handled">no</Fact> : null}
      </dl>
      {one ? null : <NoneKept shown={shown} />}
    </section>
  );
}

function Steps({ record, one, shown }: { record: Detail; one: OneOccurrence; shown: Shown }) {
  const all = Math.max(record.count, one.number);
  const step = (label: string, sign: string, key: string, there: boolean, go: () => void) => (
    <Button kind="quiet" class="icon" aria-label={`${label} occurrence`} title={`${label} (${key})`} disabled={!there} onClick={go}>{sign}</Button>
  );
  const newer = all - one.number;
  return (
    <div class="steps">
      {step('First', '«', 'H', !!one.previous, () => show(shown, 'first'))}
      {step('Previous', '‹', 'h', !!one.previous, () => show(shown, one.previous))}
      <span class="num steps-at" role="status"><b>{fullCount(one.number)}</b> of {fullCount(all)}</span>
      {step('Next', '›', 'l', !!one.next || newer > 0, () => showNext(record, shown))}
      {step('Latest', '»', 'L', !!one.next || newer > 0, () => show(shown, 'latest'))}
      <Button kind="quiet" class="small steps-list" onClick={() => toList()}>All occurrences</Button>
    </div>
  );
}

function NoneKept({ shown }: { shown: Shown }) {
  if (shown.at && shown.at !== 'latest' && shown.at !== 'first') {
    return <Note>This occurrence is not kept any more. What follows is the first sighting. <Button kind="quiet" class="small" onClick={() => show(shown, 'latest')}>Show the latest</Button></Note>;
  }
  return <Note>No single occurrence of this record is kept: they are older than its project keeps them, or an older version has counted them. What follows is the first sighting.</Note>;
}

/** In the place of a payload that the log does not hold any more. */
export function NoPayload({ shown }: { shown: Shown }) {
  return (
    <Note>
      <p>What this event told is not kept any more: the log that held it was purged. When, where and to whom it happened is still known; stack, request and breadcrumbs are not.</p>
      {shown.data?.next ? <div class="row"><Button onClick={() => show(shown, 'latest')}>Show the latest</Button></div> : null}
    </Note>
  );
}

export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return <div><dt>{name}</dt><dd>{children}</dd></div>;
}

/** A time in both forms, because a touch screen has no hover. */
export function Moment({ iso }: { iso: string }) {
  return <><Time iso={iso} sentence /> <span class="dim num">{exact(iso).replace(/\.\d+/, '')}</span></>;
}
