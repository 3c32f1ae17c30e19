import { describe, expect, test } from 'vitest';
import type { Row } from '../src/api/types';
import { callsBack, changedSince, movedBy, undoneWords, type Former } from '../src/lib/undo';

const former = (signature: string, status: Former['status'], more: Partial<Former> = {}): Former => ({ type: 'system', signature, status, regressed: false, ...more });

describe('a move that is taken back', () => {
  test('is of the records that it changes', () => {
    const rows = [former('a', 'open'), former('b', 'resolved'), former('c', 'muted')] as Row[];
    expect(movedBy(rows, 'resolved').map((f) => f.signature)).toEqual(['a', 'c']);
  });
  test('takes one call for each former status', () => {
    const formers = [former('a', 'open'), former('b', 'muted'), former('c', 'open'), former('a', 'open', { type: 'database' })];
    expect(callsBack(formers, new Set())).toEqual([{ status: 'open', signatures: ['a', 'c'] }, { status: 'muted', signatures: ['b'] }]);
  });
  test('leaves alone what has changed meanwhile', () => {
    expect(callsBack([former('a', 'open'), former('b', 'muted')], new Set(['system:b']))).toEqual([{ status: 'open', signatures: ['a'] }]);
    expect(callsBack([former('a', 'open')], new Set(['system:a']))).toEqual([]);
  });
});

describe('a change since the move', () => {
  const before = former('a', 'open');
  test.each([
    ['our own', 'resolved', false, false],
    ['a message from before the move', 'open', false, false],
    ['somebody else muted it', 'muted', false, true],
    ['it was seen again', 'open', true, true],
  ] as const)('%s', (_, status, regressed, want) => {
    expect(changedSince(before, 'resolved', former('a', status, { regressed }))).toBe(want);
  });
  test('a regressed one that is still regressed is from before', () => {
    expect(changedSince(former('a', 'open', { regressed: true }), 'muted', former('a', 'open', { regressed: true }))).toBe(false);
  });
});

test.each([
  [1, 0, 0, '1 record put back.'],
  [3, 0, 0, '3 records put back.'],
  [2, 1, 0, '2 records put back. 1 record was changed or seen again meanwhile, and stays so.'],
  [0, 2, 0, 'Nothing was put back. 2 records were changed or seen again meanwhile, and stay so.'],
  [2, 0, 1, '2 records put back. One of them is no longer marked as regressed.'],
  [1, 0, 1, '1 record put back. It is no longer marked as regressed.'],
])('%d back, %d changed, %d marks', (back, changed, marks, words) => expect(undoneWords(back, changed, marks)).toBe(words));
