import { describe, expect, test } from 'vitest';
import type { Cause } from '../src/lib/stack';
import { causes, context, crumbs, dedented, firstFrame, runs, thrown, variables } from '../src/lib/stack';

describe('stacks', () => {
  test('the latest call first, libraries in runs', () => {
    const frames = [{ function: 'main', in_app: true }, { function: 'v1', in_app: false }, { function: 'v2' }, { function: 'load', in_app: true }];
    expect(runs(frames).map((r) => [r.vendor, r.frames.map((f) => f.function)])).toEqual([[false, ['load']], [true, ['v2', 'v1']], [false, ['main']]]);
  });
  test('when nobody said what is in the app, nothing is folded', () => {
    expect(runs([{ function: 'a' }, { function: 'b' }])).toHaveLength(1);
    expect(runs([{ function: 'a' }])[0]!.vendor).toBe(false);
  });
  test('the frame to read first is the latest call of the application', () => {
    expect(firstFrame({ frames: [{ function: 'main', in_app: true }, { function: 'load', in_app: true }, { function: 'lib' }] })?.function).toBe('load');
    expect(firstFrame({})).toBeUndefined();
  });
  test('payloads may be anything', () => {
    expect(thrown('x')).toEqual([]);
    expect(thrown([null, 3, { class: 'A' }])).toEqual([{ class: 'A' }]);
    expect(runs({})).toEqual([]);
    expect(runs([null, 1])).toEqual([]);
    expect(crumbs({ breadcrumbs: 'x' })).toEqual([]);
    expect(crumbs({ breadcrumbs: [null, 'x', {}] })).toEqual([{ time: '', category: '', message: '', level: '', data: null }]);
    expect(variables({ vars: null as never })).toEqual([]);
    expect(causes([])).toBeNull();
  });
});

describe('causes', () => {
  const shape = (c: Cause): unknown => [c.how, c.exception.class, ...c.causes.map(shape)];
  test('without ids each is the cause of the one before', () => {
    expect(shape(causes([{ class: 'Root' }, { class: 'Middle' }, { class: 'Thrown' }])!)).toEqual(['', 'Thrown', ['caused by', 'Middle', ['caused by', 'Root']]]);
  });
  test('a group has members, and they have causes', () => {
    // As an SDK sends them: the group last.
    const list = [
      { class: 'Deep', id: 3, parent: 2 }, { class: 'B', id: 2, parent: 0 }, { class: 'A', id: 1, parent: 0 }, { class: 'Group', id: 0, group: true },
    ];
    expect(shape(causes(list)!)).toEqual(['', 'Group', ['in the group', 'A'], ['in the group', 'B', ['caused by', 'Deep']]]);
  });
  test('none is lost that names nobody, itself, or one below it', () => {
    const of = (parent: number) => shape(causes([{ class: 'Odd', id: 1, parent }, { class: 'Thrown', id: 0 }])!);
    for (const parent of [7, 1]) expect(of(parent)).toEqual(['', 'Thrown', ['caused by', 'Odd']]);
    const circle = causes([{ class: 'A', id: 2, parent: 1 }, { class: 'B', id: 1, parent: 2 }, { class: 'Thrown', id: 0 }])!;
    expect(JSON.stringify(shape(circle))).toMatch(/"A".*"B"|"B".*"A"/);
  });
});

describe('source lines', () => {
  test('with their numbers around a frame', () => {
    expect(context({ line: 7, pre: ['a', 'b'], context: 'c', post: ['d'] }).map((l) => [l.number, l.text, l.at])).toEqual([
      [5, 'a', false], [6, 'b', false], [7, 'c', true], [8, 'd', false],
    ]);
    expect(context({ line: 7 })).toEqual([]);
  });
  test('without the indentation that all have', () => {
    const { lines, cut } = dedented(context({ line: 3, pre: ['\t\tif a {', ''], context: '\t\t\tgo()', post: ['\t\t}'] }));
    expect(lines.map((l) => l.text)).toEqual(['if a {', '', '\tgo()', '}']);
    expect(cut).toBe(2);
  });
  test('variables as text', () => {
    expect(variables({ vars: { name: 'string(12)', n: 3 as never } })).toEqual([['name', 'string(12)'], ['n', '3']]);
  });
});

describe('breadcrumbs', () => {
  test('with what they have', () => {
    const list = [
      { time: '2026-01-02T03:04:05.678Z', type: 'http', category: 'fetch', level: 'info', data: { method: 'GET', url: '/cart', status_code: 500 } },
      { type: 'ui', message: 'click', data: [] },
    ];
    expect(crumbs({ breadcrumbs: list })).toEqual([
      { time: '2026-01-02T03:04:05.678Z', category: 'fetch', level: 'info', message: 'GET /cart → 500', data: list[0]!.data },
      { time: '', category: 'ui', level: '', message: 'click', data: null },
    ]);
  });
});
