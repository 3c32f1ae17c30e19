// How the occurrences of a record are spread: environments, releases, users, tags.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Deployed, Facets, Named } from '../../api/occurrences';
import { asName } from '../../lib/filters';
import { percent, shares, sinceOf, spans, type Share } from '../../lib/occurrence';
import { fullCount, plural, visible } from '../../lib/text';
import { exact } from '../../lib/time';
import { Button, PageLink } from '../../ui/button';
import { Safe, Time } from '../../ui/text';
import { toList } from './shown';

// More are shown when asked for.
const atFirst = 5;

// Of so many occurrences, the latest ones, the service lists users.
const latest = 1_048_576;

export function FacetBars({ facets }: { facets: Facets }) {
  const tags = Object.entries(facets.tags).sort(([a], [b]) => a.localeCompare(b));
  const total = facets.environments.reduce((sum, v) => sum + v.count, 0);
  return (
    <div class="facets">
      <Bars title="Environments" list={facets.environments} total={total} cell={(v) => <NameLink name="environment" of={v.value} />} />
      {facets.users.count > 0 ? <Bars title={plural(facets.users.count, 'user')} list={facets.users.top} total={Math.min(total, latest)} cell={(v) => <UserButton of={v.value} />} /> : null}
      {tags.map(([key, list]) => (
        <Bars key={key} title={key} list={list} total={0} cell={(v) => <PageLink to={{ tag: `${key}:${v.value}` }}><Safe text={v.value || 'empty'} /></PageLink>} />
      ))}
    </div>
  );
}

function Bars({ title, list, total, cell }: { title: string; list: readonly Named[]; total: number; cell: (v: Share) => ComponentChildren }) {
  const [all, setAll] = useState(false);
  if (list.length === 0) return null;
  const rows = shares(list, total);
  return (
    <section class="facet" aria-label={visible(title)}>
      <h4><Safe text={title} /></h4>
      <ul>
        {(all ? rows : rows.slice(0, atFirst)).map((v) => (
          <li key={v.value} title={`${fullCount(v.count)} occurrences`}>
            <span class="facet-name">{cell(v)}</span>
            <span class="num dim">{percent(v.part)}</span>
            <Bar from={0} wide={v.part * 100} />
          </li>
        ))}
      </ul>
      {rows.length > atFirst ? <Button kind="quiet" class="small" aria-expanded={all} onClick={() => setAll(!all)}>{all ? 'Fewer' : `${rows.length - atFirst} more`}</Button> : null}
    </section>
  );
}

/** A bar on an axis from 0 to 100; the words beside it say the same. */
function Bar({ from, wide }: { from: number; wide: number }) {
  return (
    <svg class="bar-line" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      <rect class="base" width="100" height="4" />
      <rect class="fill" x={from} width={wide} height="4" />
    </svg>
  );
}

function NameLink({ name, of }: { name: 'environment' | 'release'; of: string }) {
  return <PageLink to={{ [name]: asName(of) }}><Safe text={of || 'not named'} /></PageLink>;
}

/** The list of records knows no users: the occurrences of this one do. */
function UserButton({ of }: { of: string }) {
  return <button type="button" class="as-link" onClick={() => toList({ user: of })} title="List the occurrences of this user"><Safe text={of} /></button>;
}

const mostReleases = 6;

/** When each release was seen, and how often. */
export function Releases({ list }: { list: readonly Deployed[] }) {
  const [all, setAll] = useState(false);
  if (list.length === 0 || (list.length === 1 && !list[0]!.value)) return null;
  const rows = spans(list);
  const part = new Map(shares(list).map((v) => [v.value, v.part]));
  return (
    <section class="releases" aria-label="Releases over time">
      <h4>Releases over time</h4>
      <ul>
        {(all ? rows : rows.slice(0, mostReleases)).map((r) => (
          <li key={r.value} title={`${exact(r.first_seen)} to ${exact(r.last_seen)}`}>
            <span class="facet-name"><NameLink name="release" of={r.value} /></span>
            <Bar from={r.from} wide={r.wide} />
            <span class="num">{fullCount(r.count)}×</span>
            <span class="num dim">{percent(part.get(r.value) ?? 0)}</span>
            <span class="dim release-last">last <Time iso={r.last_seen} /></span>
          </li>
        ))}
      </ul>
      {rows.length > mostReleases ? <Button kind="quiet" class="small" aria-expanded={all} onClick={() => setAll(!all)}>{all ? 'Fewer' : `${rows.length - mostReleases} more`}</Button> : null}
    </section>
  );
}

/** The release in which a record began or came back. */
export function SinceMark({ facets, regressed }: { facets: Facets | undefined; regressed: boolean }) {
  const since = facets ? sinceOf(facets.releases, regressed) : null;
  if (!since) return null;
  const back = since.words === 'back since';
  const title = !back ? 'The release of its first occurrence' : 'It was resolved and has been seen again; no other release was seen since this one';
  return <div class={`badge ${back ? 'tone-warn' : 'tone-plain'}`} title={title}><dt>{back ? 'Back since' : 'Since'}</dt><dd><Safe text={since.release} /></dd></div>;
}
