// Errors over time, in layers, with their totals as the legend.
import { useMemo, useState } from 'preact/hooks';
import type { Overview } from '../../api/types';
import { stack, sum, totals, type By } from '../../lib/series';
import { bucket } from '../../lib/time';
import { fullCount, plural } from '../../lib/text';
import { change, query } from '../../router';
import { LevelBadge } from '../../ui/badge';
import { PageLink } from '../../ui/button';
import { Plot, type uPlot } from '../../ui/plot';
import { Note, Panel } from '../../ui/state';
import { Count } from '../../ui/text';
import { wordsOf } from '../../ui/toast';

const stepMs = { hour: 3_600_000, day: 86_400_000 } as const;

export function OverTime({ of, stale }: { of: Overview; stale: unknown }) {
  const by: By = query.value.get('by') === 'book' ? 'book' : 'level';
  const words = of.range === '24h' ? 'in 24 hours' : 'in 14 days';
  const all = of.series.reduce((n, s) => n + sum(s.counts), 0);
  return (
    <Panel
      title="Errors over time" class="over-time"
      aside={(
        <fieldset class="segments small">
          <legend>Layers</legend>
          {(['level', 'book'] as const).map((b) => (
            <label key={b}><input type="radio" name="by" checked={b === by} onChange={() => change({ by: b === 'level' ? '' : b })} /><span>by {b}</span></label>
          ))}
        </fieldset>
      )}
    >
      {stale ? <Note tone="bad">The chart is not up to date. {wordsOf(stale)}</Note> : null}
      <div class="over-time-body">
        <Chart of={of} by={by} />
        {all === 0 ? <p class="dim">No error {words}.</p> : <Legend of={of} by={by} all={all} />}
      </div>
    </Panel>
  );
}

function Legend({ of, by, all }: { of: Overview; by: By; all: number }) {
  const rows = totals(of.series);
  // The list can filter only by the last sighting, which comes nearest.
  const date = of.range;
  const to = (more: Record<string, string>) => ({ ...more, date_range: date });
  const cell = (n: number, more: Record<string, string>, what: string) => (
    <td class="right">{n === 0 ? <span class="dim">–</span> : <PageLink to={to(more)}><Count n={n} /><span class="offscreen"> {what}</span></PageLink>}</td>
  );
  const swatch = (name: string) => <i class={`swatch of-${name}`} aria-hidden="true" />;
  return (
    <table class="legend">
      <caption class="offscreen">Totals; each is a link to the list</caption>
      <thead>
        <tr>
          <th scope="col"><span class="offscreen">Level</span></th>
          {(['system', 'database'] as const).map((b) => <th key={b} scope="col" class="right">{by === 'book' ? swatch(b) : null}<PageLink to={to({ types: b })}>{b}</PageLink></th>)}
          <th scope="col" class="right">all</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((r) => (
          <tr key={r.level}>
            <th scope="row">{by === 'level' ? swatch(r.level) : null}<PageLink to={to({ levels: r.level })}><LevelBadge level={r.level} /></PageLink></th>
            {cell(r.system, { levels: r.level, types: 'system' }, `${r.level}, system`)}
            {cell(r.database, { levels: r.level, types: 'database' }, `${r.level}, database`)}
            <td class="right"><Count n={r.all} /></td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">all</th>
          <td class="right"><Count n={sum(rows.map((r) => r.system))} /></td>
          <td class="right"><Count n={sum(rows.map((r) => r.database))} /></td>
          <td class="right"><b><Count n={all} /></b></td>
        </tr>
      </tfoot>
    </table>
  );
}

// The width of a label, in pixels.
const labelWidth = 56;
// Steps of hours that divide a day.
const hourSteps = [1, 2, 3, 4, 6, 12];

/** Labels below the middle of bars, as many as fit: days counted back from the last one, hours at round times. */
function named(step: Overview['step']): uPlot.Axis.Splits {
  return (u) => {
    const middles = [...u.data[0]];
    const every = Math.max(1, Math.ceil((middles.length * labelWidth) / Math.max(u.width, 1)));
    if (step === 'day') return middles.filter((_, i) => (middles.length - 1 - i) % every === 0);
    const hours = hourSteps.find((h) => h >= every) ?? 24;
    return middles.filter((s) => new Date(s * 1000).getHours() % hours === 0);
  };
}

function Chart({ of, by }: { of: Overview; by: By }) {
  const step = stepMs[of.step];
  const from = Date.parse(of.from);
  const length = Math.max(1, of.series[0]?.counts.length ?? Math.round((Date.parse(of.to) - from) / step));
  const layers = useMemo(() => stack(of.series, by, length), [of, by, length]);
  const whole = layers[layers.length - 1]?.tops ?? Array<number>(length).fill(0);
  // The highest first, because each layer is drawn over the one that reaches
  // higher.
  const drawn = useMemo(() => [...layers].reverse(), [layers]);
  const data = useMemo<uPlot.AlignedData>(
    () => [Array.from({ length }, (_, i) => (from + (i + 0.5) * step) / 1000), ...(drawn.length > 0 ? drawn.map((l) => l.tops.map((n) => n || null)) : [whole.map(() => null)])],
    [drawn, from, step, length],
  );
  const [at, setAt] = useState<number | null>(null);
  const most = Math.max(...whole);
  const label = most === 0 ? 'No error in this range'
    : `${plural(sum(whole), 'error')}; most in the ${of.step} of ${bucket(from + whole.indexOf(most) * step, of.step)}: ${fullCount(most)}. ${layers.map((l) => `${l.name}: ${fullCount(l.total)}`).join(', ')}`;
  const tip = at === null || whole[at] === undefined ? ''
    : `${bucket(from + at * step, of.step)}: ${fullCount(whole[at])}${layers.length > 1 && whole[at] > 0 ? ` (${layers.filter((l) => l.counts[at]! > 0).map((l) => `${l.name} ${fullCount(l.counts[at]!)}`).join(', ')})` : ''}`;
  return (
    <div class="trend-chart">
      <Plot
        label={label} data={data} height={200} shape={`${of.range}/${by}/${drawn.map((l) => l.name).join()}/${length}`}
        options={(colour, tools) => ({
          // Half of the last label stands beyond the middle of its bar; a date is the
          // widest.
          padding: [18, 20, 0, 0],
          legend: { show: false },
          cursor: { y: false, points: { show: false }, drag: { x: false, y: false, setScale: false } },
          scales: {
            x: { time: true, range: (_u, min, max) => [min - step / 2000, max + step / 2000] },
            y: { range: (_u, _min, max) => [0, Math.max(4, Math.ceil(max * 1.05))] },
          },
          // Days are UTC days, hours are in the viewer's zone.
          tzDate: of.step === 'day' ? tools.utc : undefined,
          axes: [
            { stroke: colour('--dim'), grid: { show: false }, ticks: { show: false }, size: 22, gap: 2, font: tools.font, splits: named(of.step), values: (_u, list) => list.map((s) => tools.tick(s * 1000 - step / 2, of.step)) },
            { stroke: colour('--dim'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false }, size: 44, gap: 4, font: tools.font, incrs: tools.whole },
          ],
          series: [
            {},
            ...(drawn.length > 0 ? drawn : [{ name: 'none' }]).map((l) => ({
              // A line in the background colour separates layers, also without
              // their colours.
              stroke: colour('--surface'), width: 1, fill: colour(by === 'book' ? `--bar-${l.name}` : `--fill-${l.name}`), points: { show: false }, paths: tools.bars({ size: [0.86, 60], align: 0 }),
            })),
          ],
          hooks: {
            setCursor: [(u) => setAt((u.cursor.left ?? -1) < 0 ? null : u.cursor.idx ?? null)],
          },
        })}
      />
      <span class="trend-tip" aria-hidden="true">{tip}</span>
    </div>
  );
}
