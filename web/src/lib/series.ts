// The series of the overview for the chart and its legend.
import type { Book, Level } from '../api/types';
import { books, levels } from '../api/types';

export interface Series {
  type: Book;
  level: Level;
  counts: readonly number[];
}

/** The layers of the chart. */
export type By = 'level' | 'book';

export interface Layer {
  name: Level | Book;
  total: number;
  counts: number[];
  /** The sums of this layer and those below it, which uPlot draws. */
  tops: number[];
}

/**
 * Layers from the bottom up, only those with events. The most severe level is at
 * the bottom, where its height can be read from a straight base.
 */
export function stack(series: readonly Series[], by: By, length: number): Layer[] {
  const names: readonly (Level | Book)[] = by === 'level' ? [...levels].reverse() : books;
  const below = Array<number>(length).fill(0);
  const out: Layer[] = [];
  for (const name of names) {
    const counts = summed(series.filter((s) => (by === 'level' ? s.level : s.type) === name), length);
    const total = sum(counts);
    if (total === 0) continue;
    counts.forEach((n, i) => { below[i]! += n; });
    out.push({ name, total, counts, tops: [...below] });
  }
  return out;
}

/** Totals for each level, most severe first, and book; only levels with events. */
export function totals(series: readonly Series[]): { level: Level; system: number; database: number; all: number }[] {
  return [...levels].reverse().map((level) => {
    const of = (type: Book) => sum(series.filter((s) => s.level === level && s.type === type).flatMap((s) => s.counts));
    const [system, database] = [of('system'), of('database')];
    return { level, system, database, all: system + database };
  }).filter((t) => t.all > 0);
}

function summed(series: readonly Series[], length: number): number[] {
  return Array.from({ length }, (_, i) => series.reduce((n, s) => n + (s.counts[i] ?? 0), 0));
}

export function sum(counts: readonly number[]): number {
  return counts.reduce((n, c) => n + c, 0);
}

/** The growth in words: "new", "3×", "+20 %". */
export function growth(before: number, now: number): string {
  if (before === 0) return 'new';
  const times = now / before;
  return times >= 2 ? `${times >= 10 ? Math.round(times) : Math.round(times * 10) / 10}×` : `+${Math.round((times - 1) * 100)} %`;
}
