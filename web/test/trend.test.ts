import { expect, test } from 'vitest';
import type { ReleaseTrend, Trend } from '../src/api/types';
import { layersOf, spanOf, sum, tops, whole } from '../src/lib/trend';

const span = { signature: '0', type: 'system', range: '2h', step: 'hour', from: '2026-11-21T02:00:00.000Z', to: '2026-11-21T04:00:00.000Z' } as const;
const plain: Trend = { ...span, total: 3, buckets: [{ time: span.from, count: 1 }, { time: '2026-11-21T03:00:00.000Z', count: 2 }] };
const none = { count: 0, counts: [0, 0] };
const by: ReleaseTrend = {
  ...span, total: 10, counts: [4, 6], releases: [{ value: 'shop@2', count: 5, counts: [2, 3] }, { value: '', count: 2, counts: [0, 2] }],
  others: { releases: 3, count: 2, counts: [1, 1] }, not_kept: { count: 1, counts: [1, 0] },
};

test('a trend without releases is one layer', () => {
  expect(layersOf(plain)).toEqual([{ name: '', token: '--bar', counts: [1, 2] }]);
  expect(spanOf(plain)).toEqual({ range: '2h', step: 'hour', from: Date.parse(span.from), stepMs: 3_600_000 });
});

test('releases, the others, and what is not kept', () => {
  expect(layersOf(by).map((l) => [l.name, l.token])).toEqual([
    ['shop@2', '--part-1'], ['no release named', '--part-2'], ['3 other releases', '--part-others'], ['not kept any more', '--part-gone'],
  ]);
  expect(layersOf({ ...by, others: { releases: 0, ...none }, not_kept: none }).map((l) => l.name)).toEqual(['shop@2', 'no release named']);
});

test('layers stand on each other and reach the counts', () => {
  const layers = layersOf(by);
  expect(tops(layers)).toEqual([[4, 6], [3, 6], [2, 5], [2, 3]]);
  expect(whole(layers, 2)).toEqual(by.counts);
  expect(sum(by.counts)).toBe(by.total);
  expect(whole([], 2)).toEqual([0, 0]);
});
