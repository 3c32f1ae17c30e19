import { describe, expect, test } from 'vitest';
import type { Row } from '../src/api/types';
import { grown, keyOf, unseen, updated, without } from '../src/lib/live';
import { holds } from '../src/lib/scopes';
import { parseDSN, snippets, suits } from '../src/lib/snippets';
import { sparkPath, sparkTitle } from '../src/lib/spark';
import { context, crumbs, runs, thrown } from '../src/lib/stack';

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

describe('stacks', () => {
  test('the latest call first, libraries in runs', () => {
    const frames = [{ function: 'main', in_app: true }, { function: 'v1', in_app: false }, { function: 'v2' }, { function: 'load', in_app: true }];
    expect(runs(frames).map((r) => [r.vendor, r.frames.map((f) => f.function)])).toEqual([[false, ['load']], [true, ['v2', 'v1']], [false, ['main']]]);
  });
  test('when nobody said what is in the app, nothing is folded', () => {
    expect(runs([{ function: 'a' }, { function: 'b' }])).toHaveLength(1);
    expect(runs([{ function: 'a' }])[0]!.vendor).toBe(false);
  });
  test('payloads may be anything', () => {
    expect(thrown('x')).toEqual([]);
    expect(thrown([null, 3, { class: 'A' }])).toEqual([{ class: 'A' }]);
    expect(runs({})).toEqual([]);
    expect(runs([null, 1])).toEqual([]);
    expect(crumbs({ breadcrumbs: 'x' })).toEqual([]);
  });
  test('lines around a frame', () => {
    expect(context({ line: 7, pre_context: ['a', 'b'], context_line: 'c', post_context: ['d'] }).map((l) => [l.number, l.text, l.at])).toEqual([
      [5, 'a', false], [6, 'b', false], [7, 'c', true], [8, 'd', false],
    ]);
    expect(context({ line: 7 })).toEqual([]);
  });
  test('breadcrumbs, wherever they are', () => {
    const values = [{ timestamp: 1, category: 'http', message: 'GET /', level: 'info' }, { type: 'ui', data: { a: 1 } }];
    const want = [{ time: '1970-01-01T00:00:01.000Z', category: 'http', message: 'GET /', level: 'info' }, { time: '', category: 'ui', message: '{"a":1}', level: '' }];
    expect(crumbs({ breadcrumbs: values })).toEqual(want);
    expect(crumbs({ extra: { breadcrumbs: { values } } })).toEqual(want);
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
