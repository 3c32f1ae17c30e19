// Sparklines: one path of one SVG.

import { fullCount } from './text';

export interface Box {
  width: number;
  height: number;
}

/**
 * Bars as one path, from the bottom of the box. The highest bar fills it. Every
 * bar above zero is at least one unit high, so that a single event is visible.
 */
export function sparkPath(counts: readonly number[], box: Box): string {
  const most = Math.max(...counts, 0);
  if (most <= 0) return '';
  const pitch = box.width / counts.length;
  // A gap of a quarter, but at least as wide as a screen can show.
  const wide = pitch > 2 ? pitch - Math.max(0.75, pitch / 4) : pitch;
  let path = '';
  counts.forEach((n, i) => {
    if (n <= 0) return;
    const high = Math.max(1, (n / most) * box.height);
    path += `M${round(i * pitch)} ${round(box.height)}v${round(-high)}h${round(wide)}v${round(high)}z`;
  });
  return path;
}

function round(n: number): number {
  return Math.round(n * 100) / 100;
}

/** A sparkline in words, for titles: the total, the peak, and its time. */
export function sparkTitle(counts: readonly number[], from: number, step: 'hour' | 'day', label: (ms: number) => string): string {
  const total = counts.reduce((sum, n) => sum + n, 0);
  if (total === 0) return 'none in this time';
  const most = Math.max(...counts);
  const at = from + counts.indexOf(most) * (step === 'hour' ? 3_600_000 : 86_400_000);
  return `${fullCount(total)} in this time, at most ${fullCount(most)} an ${step === 'hour' ? 'hour' : 'day'} (${label(at)})`.replace('an day', 'a day');
}
