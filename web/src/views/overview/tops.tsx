import type { ComponentChildren } from 'preact';
import type { Overview, Row } from '../../api/types';
import { recordParams } from '../../lib/filters';
import { growth } from '../../lib/series';
import { fullCount, visible } from '../../lib/text';
import { LevelBadge, StatusBadge } from '../../ui/badge';
import { PageLink } from '../../ui/button';
import { Panel } from '../../ui/state';
import { Count, Safe } from '../../ui/text';

export function Growing({ of }: { of: Overview }) {
  const half = of.range === '24h' ? '12 hours' : '7 days';
  return (
    <Panel title="Growing" aside={<span class="dim">last {half} against the {half} before</span>} class="top">
      {of.growing.length === 0 ? <p class="dim nothing">Nothing occurs more often than before.</p> : (
        <ol>
          {of.growing.map((g) => (
            <Line key={`${g.record.type}:${g.record.signature}`} of={g.record}>
              <span class="dim num" title={`${fullCount(g.before)} before, ${fullCount(g.now)} now`}><Count n={g.before} /> → <Count n={g.now} /></span>
              <b class="top-much num">{growth(g.before, g.now)}</b>
            </Line>
          ))}
        </ol>
      )}
    </Panel>
  );
}

export function Noisy({ of }: { of: Overview }) {
  const most = Math.max(1, ...of.noisy.map((n) => n.count));
  return (
    <Panel title="Noisy" aside={<span class="dim">most often {of.range === '24h' ? 'in 24 hours' : 'in 14 days'}</span>} class="top">
      {of.noisy.length === 0 ? <p class="dim nothing">Nothing occurred.</p> : (
        <ol>
          {of.noisy.map((n) => (
            <Line key={`${n.record.type}:${n.record.signature}`} of={n.record}>
              <svg class="share" viewBox="0 0 60 8" preserveAspectRatio="none" aria-hidden="true"><rect width={(60 * n.count) / most} height={8} /></svg>
              <b class="top-much"><Count n={n.count} /></b>
            </Line>
          ))}
        </ol>
      )}
    </Panel>
  );
}

function Line({ of, children }: { of: Row; children: ComponentChildren }) {
  const name = of.exception_class.split(/[\\.:/]+/).filter(Boolean).pop() ?? '';
  return (
    <li class={`is-${of.status}`}>
      <LevelBadge level={of.level} />
      <PageLink to={recordParams(of)} class="top-name">
        <span title={visible(of.message_preview)}>
          {name ? <Safe class="class" text={name} /> : null} <Safe text={of.message_preview || (name ? '' : 'no message')} />
        </span>
      </PageLink>
      {of.status !== 'open' || of.regressed ? <StatusBadge status={of.status} regressed={of.regressed} /> : null}
      <span class="top-end">{children}</span>
    </li>
  );
}
