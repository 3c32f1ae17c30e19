import { describe, expect, test } from 'vitest';
import type { Row } from '../src/api/types';
import { grown, keyOf, unseen, updated, withNumbersOf, without } from '../src/lib/live';
import { holds } from '../src/lib/scopes';
import { parseDSN, snippets, suits } from '../src/lib/snippets';
import { sparkPath, sparkTitle } from '../src/lib/spark';

const row = (signature: string, count = 1, type: Row['type'] = 'system') => ({ signature, type, count }) as Row;

describe('rows that change', () => {
  const rows = [row('a'), row('b'), row('b', 1, 'database')];
  test('in their places', () => {
    expect(updated(rows, [row('b', 5), row('z', 9)]).map((r) => r.count)).toEqual([1, 5, 1]);
  });
  test('nothing changed is the same array', () => {
    expect(updated(rows, [row('z')])).toBe(rows);
    expect(without(rows, [{ type: 'database', signature: 'a' }])).toBe(rows);
  });
  test('gone from one book only', () => {
    expect(without(rows, [{ type: 'database', signature: 'b' }]).map(keyOf)).toEqual(['system:a', 'system:b']);
  });
  test('of a choice keep its numbers', () => {
    const shown = [{ ...row('a', 2), first_seen: '1', last_seen: '2', level: 'error' } as Row];
    const told = [{ ...row('a', 9), first_seen: '0', last_seen: '5', level: 'fatal' } as Row, row('z', 7)];
    expect(withNumbersOf(shown, told)).toEqual([{ ...shown[0], level: 'fatal' }, told[1]]);
  });
  test('what is new', () => {
    expect(unseen(rows, [row('a'), row('c'), row('a', 1, 'database')])).toBe(2);
  });
  test('the last bucket grows', () => {
    expect(grown([1, 2], 3)).toEqual([1, 5]);
    expect(grown([1, 2], -3)).toEqual([1, 2]);
    expect(grown([], 3)).toEqual([]);
  });
});

describe('sparklines', () => {
  const box = { width: 8, height: 10 };
  test('the highest fills the box, the lowest is seen, zero is not', () => {
    expect(sparkPath([0, 1000, 1, 500], box)).toBe('M2 10v-10h2v10zM4 10v-1h2v1zM6 10v-5h2v5z');
  });
  test('nothing is no path', () => {
    expect(sparkPath([0, 0], box)).toBe('');
    expect(sparkPath([], box)).toBe('');
  });
  test('stays inside', () => {
    const path = sparkPath(Array.from({ length: 24 }, (_, i) => i), { width: 72, height: 16 });
    for (const [, x] of path.matchAll(/M([\d.]+) /g)) expect(Number(x)).toBeLessThanOrEqual(72);
    for (const [, h] of path.matchAll(/v-([\d.]+)/g)) expect(Number(h)).toBeLessThanOrEqual(16);
  });
  test('in words', () => {
    const at = (ms: number) => new Date(ms).toISOString();
    expect(sparkTitle([0, 3, 1], 0, 'hour', at)).toBe('4 in this time, at most 3 an hour (1970-01-01T01:00:00.000Z)');
    expect(sparkTitle([5], 0, 'day', at)).toContain('5 a day');
    expect(sparkTitle([0], 0, 'day', at)).toBe('none in this time');
  });
});

test('scopes and their patterns', () => {
  expect(holds(['*'], 'Keys/Manage')).toBe(true);
  expect(holds(['Tools/*'], 'Tools/GetErrorLog')).toBe(true);
  expect(holds(['Tools/*'], 'Toolsy/GetErrorLog')).toBe(false);
  expect(holds(['Tools/GetErrorLogs'], 'Tools/GetErrorLog')).toBe(false);
  expect(holds([], 'Ops/Read')).toBe(false);
});

describe('a first error', () => {
  const dsn = 'https://7799bef7@errata.example:8443/e/1';
  test('a DSN in parts', () => {
    expect(parseDSN(dsn)).toEqual({ origin: 'https://errata.example:8443', publicKey: '7799bef7', path: '/e', project: '1' });
    expect(parseDSN('nonsense')).toBeNull();
    expect(parseDSN('https://errata.example/1')).toBeNull();
  });
  test('snippets name it', () => {
    const list = snippets(dsn);
    expect(list.map((s) => s.name)).toEqual(['Go', 'PHP', 'JavaScript', 'Node.js', 'Python', 'curl']);
    for (const s of list.slice(0, 5)) expect(s.text).toContain(dsn);
    expect(list[5]!.text).toContain('https://errata.example:8443/e/api/1/store/?sentry_key=7799bef7');
    expect(snippets(dsn, 'eik_ing_x')[5]!.text).toContain('/e/api/v1/events');
    expect(snippets(dsn, 'eik_ing_x')[5]!.text).toContain('Bearer eik_ing_x');
  });
  test.each([
    ['', 'Go'], ['go', 'Go'], ['golang', 'Go'], ['php', 'PHP'], ['php-laravel', 'PHP'], ['javascript-react', 'JavaScript'], ['node', 'Node.js'], ['node-express', 'Node.js'],
    ['python-django', 'Python'], ['java', 'curl'], ['gopher', 'curl'], ['cobol', 'curl'],
  ])('the code for %s', (platform, name) => {
    const list = snippets(dsn);
    expect(list[suits(list, platform)]!.name).toBe(name);
  });
});
