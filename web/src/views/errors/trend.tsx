// How often a record was seen, with a range that can be selected by dragging.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { getTrend, type RecordRef } from '../../api/errors';
import type { Trend } from '../../api/types';
import { noRecord } from '../../lib/filters';
import { bucket } from '../../lib/time';
import { fullCount, plural } from '../../lib/text';
import { change } from '../../router';
import { Button } from '../../ui/button';
import { useLoad } from '../../ui/load';
import { Plot, type uPlot } from '../../ui/plot';
import { Failure } from '../../ui/state';

const ranges = ['24h', '7d', '14d', '30d', '90d'] as const;
const place = 'errata.trend';

/** count is the record's: a change draws the chart again. */
export function TrendChart({ of, count }: { of: RecordRef; count: number }) {
  const [range, setRange] = useState(() => ranges.find((r) => r === sessionStorage.getItem(place)) ?? '24h');
  const [brushed, setBrushed] = useState<[number, number] | null>(null);
  const load = useLoad((signal) => getTrend({ type: of.type, signature: of.signature }, range, signal), `${range} ${count}`);
  useEffect(() => setBrushed(null), [range]);
  const pick = (r: (typeof ranges)[number]) => {
    sessionStorage.setItem(place, r);
    setRange(r);
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
        {load.data ? <Sum trend={load.data} brushed={brushed} /> : null}
        {brushed ? (
          <span class="row">
            <Button kind="quiet" class="small" onClick={() => listRange(load.data!, brushed)}>List errors of this range</Button>
            <Button kind="quiet" class="small" onClick={() => setBrushed(null)}>Whole range</Button>
          </span>
        ) : null}
      </div>
      {load.error && !load.data ? <Failure error={load.error} retry={load.reload} /> : null}
      {load.data ? <Chart trend={load.data} brushed={brushed} onBrush={setBrushed} /> : <div class="plot-space" />}
    </section>
  );
}

const stepMs = { hour: 3_600_000, day: 86_400_000 } as const;

function inside(trend: Trend, brushed: [number, number] | null) {
  const step = stepMs[trend.step];
  return trend.buckets.filter((b) => {
    const at = Date.parse(b.time);
    return !brushed || (at + step > brushed[0] && at < brushed[1]);
  });
}

function Sum({ trend, brushed }: { trend: Trend; brushed: [number, number] | null }) {
  const list = inside(trend, brushed);
  const n = list.reduce((sum, b) => sum + b.count, 0);
  if (!brushed) return <span class="dim num">{fullCount(n)}× in {trend.range}</span>;
  const from = Date.parse(list[0]?.time ?? trend.from);
  const last = Date.parse(list[list.length - 1]?.time ?? trend.to);
  return <span class="num">{fullCount(n)}×, {bucket(from, trend.step)} to {bucket(trend.step === 'hour' ? last + stepMs.hour : last, trend.step)}</span>;
}

/** The list with the records that were last seen in the range. */
function listRange(trend: Trend, brushed: [number, number]): void {
  const list = inside(trend, brushed);
  const from = Date.parse(list[0]?.time ?? trend.from);
  const to = Date.parse(list[list.length - 1]?.time ?? trend.to) + stepMs[trend.step] - 1;
  const text = (ms: number) => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
  change({ date_range: `${text(from)}..${text(to)}`, page: '', ...noRecord });
}

/** A label at the edge would be cut off, or overlap the other axis. */
function fits(u: uPlot, x: number): boolean {
  const at = u.valToPos(x, 'x');
  return at > 24 && at < u.over.clientWidth - 20;
}

function Chart({ trend, brushed, onBrush }: { trend: Trend; brushed: [number, number] | null; onBrush: (range: [number, number] | null) => void }) {
  const step = stepMs[trend.step];
  const shown = useMemo(() => (brushed ? inside(trend, brushed) : trend.buckets), [trend, brushed]);
  // A bar stands in the middle of its bucket.
  const data = useMemo<uPlot.AlignedData>(() => [shown.map((b) => (Date.parse(b.time) + step / 2) / 1000), shown.map((b) => b.count)], [shown, step]);
  const total = shown.reduce((sum, b) => sum + b.count, 0);
  const most = shown.reduce((max, b) => (b.count > max.count ? b : max), shown[0] ?? { time: trend.from, count: 0 });
  const words = total === 0 ? 'Not seen in this range' : `Seen ${plural(total, 'time')}; most in the ${trend.step} of ${bucket(Date.parse(most.time), trend.step)}: ${fullCount(most.count)}`;
  const [tip, setTip] = useState('');
  return (
    <div class="trend-chart">
      <Plot
        label={words} data={data} height={120} shape={`${trend.range}/${trend.step}`}
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
            x: { time: true, range: (_u, min, max) => [min - step / 2000, max + step / 2000] },
            y: { range: (_u, _min, max) => [0, Math.max(4, Math.ceil(max * 1.05))] },
          },
          // Days are UTC days, hours are in the viewer's zone.
          tzDate: trend.step === 'day' ? tools.utc : undefined,
          axes: [
            { stroke: colour('--dim'), grid: { show: false }, ticks: { show: false }, size: 22, gap: 2, font: tools.font, values: (u, at) => at.map((s) => (fits(u, s) ? tools.tick(s * 1000, trend.step) : '')), space: 64 },
            { stroke: colour('--dim'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false }, size: 36, gap: 4, font: tools.font, incrs: tools.whole },
          ],
          series: [{}, { stroke: colour('--bar'), fill: colour('--bar'), width: 0, points: { show: false }, paths: tools.bars({ size: [0.8, 40], align: 0 }) }],
          hooks: {
            setSelect: [(u) => {
              if (u.select.width < 6) return;
              const from = u.posToVal(u.select.left, 'x') * 1000;
              const to = u.posToVal(u.select.left + u.select.width, 'x') * 1000;
              u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
              onBrush([from, to]);
            }],
            setCursor: [(u) => {
              const i = u.cursor.idx;
              const x = i == null ? undefined : u.data[0][i];
              setTip(x === undefined || i == null || (u.cursor.left ?? -1) < 0 ? '' : `${bucket(x * 1000 - step / 2, trend.step)}: ${fullCount(u.data[1]?.[i] ?? 0)}`);
            }],
          },
        })}
      />
      <span class="trend-tip" aria-hidden="true">{tip || (brushed ? '' : 'drag to zoom in')}</span>
    </div>
  );
}
