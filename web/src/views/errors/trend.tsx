// How often a record was seen, in all or by release, with a range that can be selected
// by dragging.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { getReleaseTrend, getTrend, type RecordRef } from '../../api/errors';
import type { ReleaseTrend, Trend } from '../../api/types';
import { noRecord } from '../../lib/filters';
import { bucket } from '../../lib/time';
import { fullCount, plural } from '../../lib/text';
import { layersOf, spanOf, sum, tops, whole, type Layer, type Span } from '../../lib/trend';
import { change } from '../../router';
import { Button } from '../../ui/button';
import { useLoad } from '../../ui/load';
import { Plot, type uPlot } from '../../ui/plot';
import { Failure } from '../../ui/state';
import { Safe } from '../../ui/text';

const ranges = ['24h', '7d', '14d', '30d', '90d'] as const;
const place = 'errata.trend';
const byPlace = 'errata.trend.by';

/** count is the record's: a change draws the chart again. releases is how many there are. */
export function TrendChart({ of, count, releases }: { of: RecordRef; count: number; releases: number }) {
  const [range, setRange] = useState(() => ranges.find((r) => r === sessionStorage.getItem(place)) ?? '24h');
  const [chosen, setChosen] = useState(() => sessionStorage.getItem(byPlace) === 'release');
  const [brushed, setBrushed] = useState<[number, number] | null>(null);
  const by = chosen && releases > 1;
  // Releases are counted one by one, so of a large record not for each new event.
  const load = useLoad<Trend | ReleaseTrend>(
    (signal) => (by ? getReleaseTrend : getTrend)({ type: of.type, signature: of.signature }, range, signal),
    `${range} ${by} ${by ? Number(count.toPrecision(3)) : count}`,
  );
  useEffect(() => setBrushed(null), [range]);
  const pick = (r: (typeof ranges)[number]) => {
    sessionStorage.setItem(place, r);
    setRange(r);
  };
  const split = () => {
    sessionStorage.setItem(byPlace, by ? '' : 'release');
    setChosen(!by);
  };
  return (
    <section class="trend" aria-label="Trend">
      <div class="trend-head">
        <fieldset class="segments small">
          <legend>Range of the chart</legend>
          {ranges.map((r) => (
            <label key={r}><input type="radio" name="trend" checked={r === range} onChange={() => pick(r)} /><span>{r}</span></label>
          ))}
        </fieldset>
        {releases > 1 ? <Button class={`small${by ? ' on' : ''}`} aria-pressed={by ? 'true' : 'false'} onClick={split}>By release</Button> : null}
        {load.data ? <Sum trend={load.data} brushed={brushed} /> : null}
        {brushed ? (
          <span class="row">
            <Button kind="quiet" class="small" onClick={() => listRange(load.data!, brushed)}>List errors of this range</Button>
            <Button kind="quiet" class="small" onClick={() => setBrushed(null)}>Whole range</Button>
          </span>
        ) : null}
      </div>
      {load.error && !load.data ? <Failure error={load.error} retry={load.reload} /> : null}
      {load.data ? <Layers trend={load.data} brushed={brushed} onBrush={setBrushed} /> : <div class="plot-space" />}
    </section>
  );
}

/** The steps of the range, from and to as their numbers. */
function inside(span: Span, length: number, brushed: [number, number] | null): [number, number] {
  if (!brushed) return [0, length];
  const first = Math.max(0, Math.floor((brushed[0] - span.from) / span.stepMs));
  return [first, Math.max(first + 1, Math.min(length, Math.ceil((brushed[1] - span.from) / span.stepMs)))];
}

function Sum({ trend, brushed }: { trend: Trend | ReleaseTrend; brushed: [number, number] | null }) {
  const span = spanOf(trend);
  const counts = countsOf(trend);
  if (!brushed) return <span class="dim num">{fullCount(trend.total)}× in {trend.range}</span>;
  const [first, end] = inside(span, counts.length, brushed);
  const last = span.from + (span.step === 'hour' ? end : end - 1) * span.stepMs;
  return <span class="num">{fullCount(sum(counts.slice(first, end)))}×, {bucket(span.from + first * span.stepMs, span.step)} to {bucket(last, span.step)}</span>;
}

function countsOf(trend: Trend | ReleaseTrend): number[] {
  return 'buckets' in trend ? trend.buckets.map((b) => b.count) : trend.counts;
}

/** The list with the records that were last seen in the range. */
function listRange(trend: Trend | ReleaseTrend, brushed: [number, number]): void {
  const span = spanOf(trend);
  const [first, end] = inside(span, countsOf(trend).length, brushed);
  const text = (step: number, less: number) => new Date(span.from + step * span.stepMs - less).toISOString().replace(/\.\d+Z$/, 'Z');
  change({ date_range: `${text(first, 0)}..${text(end, 1)}`, page: '', ...noRecord });
}

/** The chart, and a legend that shows one release alone. */
function Layers({ trend, brushed, onBrush }: { trend: Trend | ReleaseTrend; brushed: [number, number] | null; onBrush: (range: [number, number] | null) => void }) {
  const [alone, setAlone] = useState('');
  const all = useMemo(() => layersOf(trend), [trend]);
  const shown = useMemo(() => (all.some((l) => l.name === alone) ? all.filter((l) => l.name === alone) : all), [all, alone]);
  const span = useMemo(() => spanOf(trend), [trend]);
  const length = countsOf(trend).length;
  return (
    <>
      <Chart span={span} length={length} layers={shown} brushed={brushed} onBrush={onBrush} />
      {'buckets' in trend ? null : (
        <ul class="trend-legend" aria-label="Releases in the chart">
          {all.map((l) => (
            <li key={l.name}>
              <Button kind="quiet" class={`small${alone === l.name ? ' on' : ''}`} aria-pressed={alone === l.name ? 'true' : 'false'} title="Show it alone" onClick={() => setAlone(alone === l.name ? '' : l.name)}>
                <svg viewBox="0 0 10 10" aria-hidden="true"><rect width="10" height="10" rx="2" fill={`var(${l.token})`} /></svg>
                <Safe text={l.name} /> <span class="dim num">{fullCount(sum(l.counts))}×</span>
              </Button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** A label at the edge would be cut off, or overlap the other axis. */
function fits(u: uPlot, x: number): boolean {
  const at = u.valToPos(x, 'x');
  return at > 24 && at < u.over.clientWidth - 20;
}

function Chart({ span, length, layers, brushed, onBrush }: { span: Span; length: number; layers: readonly Layer[]; brushed: [number, number] | null; onBrush: (range: [number, number] | null) => void }) {
  const { step, stepMs } = span;
  const [first, end] = inside(span, length, brushed);
  const at = (i: number) => span.from + (first + i) * stepMs;
  const counts = useMemo(() => whole(layers, length).slice(first, end), [layers, length, first, end]);
  // A bar stands in the middle of its step. An empty bar of one layer would hide
  // nothing; of several, its line would.
  const data = useMemo<uPlot.AlignedData>(() => [
    counts.map((_, i) => (span.from + (first + i + 0.5) * stepMs) / 1000),
    ...(layers.length === 0 ? [counts] : tops(layers).map((top) => top.slice(first, end).map((n) => (layers.length > 1 ? n || null : n)))),
  ], [counts, layers, span, first, end]);
  const most = counts.indexOf(Math.max(...counts));
  const total = sum(counts);
  const words = total === 0 ? 'Not seen in this range' : `Seen ${plural(total, 'time')}; most in the ${step} of ${bucket(at(most), step)}: ${fullCount(counts[most]!)}${layers.length > 1 ? `. ${layers.map((l) => `${l.name}: ${fullCount(sum(l.counts.slice(first, end)))}`).join(', ')}` : ''}`;
  const tipOf = (i: number) => `${bucket(at(i), step)}: ${fullCount(counts[i] ?? 0)}${layers.length > 1 && counts[i]! > 0 ? ` (${layers.filter((l) => l.counts[first + i]! > 0).map((l) => `${l.name} ${fullCount(l.counts[first + i]!)}`).join(', ')})` : ''}`;
  const [tip, setTip] = useState<number | null>(null);
  const drawn = layers.length === 0 ? ['--bar'] : [...layers].reverse().map((l) => l.token);
  return (
    <div class="trend-chart">
      <Plot
        label={words} data={data} height={120} shape={`${span.range}/${step}/${drawn.join()}`}
        options={(colour, tools) => ({
          padding: [8, 8, 0, 0],
          legend: { show: false },
          cursor: {
            y: false,
            points: { show: false },
            drag: { x: true, y: false, setScale: false },
          },
          select: { show: true, left: 0, top: 0, width: 0, height: 0 },
          scales: {
            x: { time: true, range: (_u, min, max) => [min - stepMs / 2000, max + stepMs / 2000] },
            y: { range: (_u, _min, max) => [0, Math.max(4, Math.ceil(max * 1.05))] },
          },
          // Days are UTC days, hours are in the viewer's zone.
          tzDate: step === 'day' ? tools.utc : undefined,
          axes: [
            { stroke: colour('--dim'), grid: { show: false }, ticks: { show: false }, size: 22, gap: 2, font: tools.font, values: (u, at) => at.map((s) => (fits(u, s) ? tools.tick(s * 1000, step) : '')), space: 64 },
            { stroke: colour('--dim'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false }, size: 36, gap: 4, font: tools.font, incrs: tools.whole },
          ],
          // A line in the background colour separates layers, also without their colours.
          series: [{}, ...drawn.map((token) => ({
            stroke: colour(drawn.length > 1 ? '--surface' : token), fill: colour(token), width: drawn.length > 1 ? 1 : 0, points: { show: false }, paths: tools.bars({ size: [0.8, 40], align: 0 }),
          }))],
          hooks: {
            setSelect: [(u) => {
              if (u.select.width < 6) return;
              const from = u.posToVal(u.select.left, 'x') * 1000;
              const to = u.posToVal(u.select.left + u.select.width, 'x') * 1000;
              u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
              onBrush([from, to]);
            }],
            setCursor: [(u) => setTip((u.cursor.left ?? -1) < 0 ? null : u.cursor.idx ?? null)],
          },
        })}
      />
      <span class="trend-tip" aria-hidden="true">{tip !== null && tip < counts.length ? tipOf(tip) : brushed ? '' : 'drag to zoom in'}</span>
    </div>
  );
}
