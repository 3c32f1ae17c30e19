// The trend of a record as layers of a chart.
import type { ReleaseTrend, Trend } from '../api/types';
import { plural } from './text';

/** Where a chart begins, and the length of its steps. */
export interface Span {
  range: string;
  step: 'hour' | 'day';
  from: number;
  stepMs: number;
}

export interface Layer {
  name: string;
  /** The colour; releases have those of their place. */
  token: string;
  counts: number[];
}

const lengths = { hour: 3_600_000, day: 86_400_000 } as const;

export function spanOf(trend: Trend | ReleaseTrend): Span {
  return { range: trend.range, step: trend.step, from: Date.parse(trend.from), stepMs: lengths[trend.step] };
}

/** A chart without releases has one layer; empty sums have none. */
export function layersOf(trend: Trend | ReleaseTrend): Layer[] {
  if ('buckets' in trend) return [{ name: '', token: '--bar', counts: trend.buckets.map((b) => b.count) }];
  const layers = trend.releases.map((r, i) => ({ name: r.value || 'no release named', token: `--part-${i + 1}`, counts: r.counts }));
  if (trend.others.count > 0) layers.push({ name: plural(trend.others.releases, 'other release'), token: '--part-others', counts: trend.others.counts });
  if (trend.not_kept.count > 0) layers.push({ name: 'not kept any more', token: '--part-gone', counts: trend.not_kept.counts });
  return layers;
}

export function sum(counts: readonly number[]): number {
  return counts.reduce((all, n) => all + n, 0);
}

/** The counts of all layers together. */
export function whole(layers: readonly Layer[], length: number): number[] {
  return Array.from({ length }, (_, i) => layers.reduce((all, l) => all + (l.counts[i] ?? 0), 0));
}

/** The tops of layers that stand on each other, the highest first: each is drawn over the one that reaches higher. */
export function tops(layers: readonly Layer[]): number[][] {
  const below: number[] = [];
  return layers.map((l) => l.counts.map((n, i) => (below[i] = (below[i] ?? 0) + n))).reverse();
}
