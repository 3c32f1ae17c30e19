import { describe, expect, test } from 'vitest';
import { ago as inSentence, bucket, dayUTC, exact, relative } from '../src/lib/time';

const now = Date.parse('2026-11-21T12:00:00Z');
const ago = (ms: number) => relative(new Date(now - ms).toISOString(), now);

describe('relative', () => {
  test.each([
    [0, 'now'], [4_999, 'now'], [42_000, '42s'], [60_000, '1m'], [59 * 60_000, '59m'], [3_600_000, '1h'], [47 * 3_600_000, '47h'],
    [48 * 3_600_000, '2d'], [729 * 86_400_000, '729d'], [730 * 86_400_000, '2y'],
    // Clocks differ a little.
    [-30_000, 'now'], [-3 * 3_600_000, 'in 3h'],
  ])('%d ms', (ms, words) => expect(ago(ms)).toBe(words));
  test('what is no time', () => expect(relative('yesterday', now)).toBe('–'));
});

describe('in a sentence', () => {
  test.each([[0, 'just now'], [42_000, '42s ago'], [3_600_000, '1h ago'], [-3 * 3_600_000, 'in 3h']])('%d ms', (ms, words) => {
    expect(inSentence(new Date(now - ms).toISOString(), now)).toBe(words);
  });
  test('what is no time', () => expect(inSentence('yesterday', now)).toBe('–'));
});

test('exact, in the zone of the viewer', () => {
  expect(exact('2026-11-21T03:58:25.123Z', 'UTC')).toBe('2026-11-21 03:58:25.123 UTC');
  expect(exact('2026-11-21T23:58:25.007Z', 'Asia/Kolkata')).toBe('2026-11-22 05:28:25.007 GMT+5:30');
  expect(exact('2026-07-01T22:00:00Z', 'Europe/Berlin')).toMatch(/^2026-07-02 00:00:00\.000 /);
  expect(exact('nonsense')).toBe('nonsense');
});

test('days are UTC days', () => {
  expect(dayUTC(Date.parse('2026-11-21T00:30:00Z'))).toBe('2026-11-21');
  expect(dayUTC(Date.parse('2026-03-01T00:30:00Z'), 1)).toBe('2026-02-28');
  expect(bucket(Date.parse('2026-11-21T00:00:00Z'), 'day')).toBe('21 Nov');
});
