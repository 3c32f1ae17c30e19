import { describe, expect, test } from 'vitest';
import type { Deployed } from '../src/api/occurrences';
import { before, eventIdOf, percent, scopeOf, shares, sinceOf, spans } from '../src/lib/occurrence';

test('an event id stands alone, with or without dashes', () => {
  const id = 'fc6d8c0c43fc4630ad850ee518f1b9d0';
  for (const text of [id, ` ${id.toUpperCase()} `, 'fc6d8c0c-43fc-4630-ad85-0ee518f1b9d0']) expect(eventIdOf(text)).toBe(id);
  for (const text of ['', 'fc6d', `${id}0`, `event ${id}`, 'fc6d8c0c43fc-4630-ad85-0ee518f1b9d0']) expect(eventIdOf(text)).toBe('');
});

test('the filters of the list that choose among occurrences', () => {
  expect(scopeOf({ environment: 'prod*', levels: 'error', tag: 'a:b' })).toEqual({ environment: 'prod*', tag: 'a:b' });
  expect(scopeOf({ search: 'x' })).toEqual({});
});

test.each([
  [0, '0 ms'], [12, '−12 ms'], [3_210, '−3.2 s'], [90_500, '−1 min 30 s'], [3_725_000, '−1 h 2 min'], [-1_500, '+1.5 s'],
])('%d ms before the event is %s', (ms, words) => {
  const event = Date.parse('2026-01-02T03:04:05.678Z');
  expect(before(new Date(event - ms).toISOString(), new Date(event).toISOString())).toBe(words);
});
test('no time is no difference', () => expect(before('', '2026-01-02T03:04:05Z')).toBe(''));

describe('shares', () => {
  test('of all, the most frequent first', () => {
    expect(shares([{ value: 'a', count: 1 }, { value: 'b', count: 3 }]).map((v) => [v.value, v.part])).toEqual([['b', 0.75], ['a', 0.25]]);
    expect(shares([{ value: 'a', count: 1 }], 10)[0]!.part).toBe(0.1);
    expect(shares([])).toEqual([]);
  });
  test.each([[1, '100 %'], [0.999, '99 %'], [0.454, '45 %'], [0.001, '<1 %'], [0, '0 %']])('%d is %s', (part, words) => expect(percent(part)).toBe(words));
});

const release = (value: string, from: number, to: number): Deployed => ({ value, count: to - from + 1, first_seen: new Date(from * 1000).toISOString(), last_seen: new Date(to * 1000).toISOString() });

describe('since a release', () => {
  const [a, b] = [release('1.0', 0, 10), release('1.1', 20, 30)];
  test('the one in which it began', () => {
    expect(sinceOf([b, a], false)).toEqual({ words: 'since', release: '1.0' });
    expect(sinceOf([], false)).toBeNull();
  });
  test('a beginning without a name says nothing', () => expect(sinceOf([release('', 0, 5), b], false)).toBeNull());
  test('back in a newer one', () => expect(sinceOf([a, b], true)).toEqual({ words: 'back since', release: '1.1' }));
  test('back in more than one: only the beginning is certain', () => {
    expect(sinceOf([release('1.0', 0, 25), b], true)).toEqual({ words: 'since', release: '1.0' });
    expect(sinceOf([a], true)).toEqual({ words: 'since', release: '1.0' });
  });
});

test('when releases were seen, on one axis, the newest first', () => {
  expect(spans([release('1.0', 0, 50), release('1.1', 50, 100)]).map((s) => [s.value, s.from, s.wide])).toEqual([['1.1', 50, 50], ['1.0', 0, 50]]);
  const once = spans([release('1.0', 5, 5)])[0]!;
  expect(once.from + once.wide).toBeLessThanOrEqual(100);
  expect(once.wide).toBeGreaterThan(0);
});
