import { describe, expect, test } from 'vitest';
import type { Project } from '../src/api/projects';
import { checkProject, limitOf, setRule, marksOf, newRule, numberOf, projectName, projectOf, projectParam, ruleErrors, ruleLabel, showValue, withRule } from '../src/lib/projects';

const shop: Project = {
  id: 2, slug: 'web-shop', name: 'Web shop', platform: 'go', created_at: null, archived: false, dsn: '', retention_days: 0, occurrence_days: 30,
  limits: { events_per_minute: null, new_records_per_hour: 0 },
  context: { source_lines: true, breadcrumbs: true, extra: false, vars: 'shapes', users: true }, noise: [{ field: 'class', match: 'Bot*', action: 'drop' }], totals: null,
};

describe('what is typed', () => {
  test.each([['60', 60], [' 7 ', 7], ['', ''], ['-1', '-1'], ['1.5', '1.5'], ['1e3', '1e3']])('%s as a number', (text, want) => expect(numberOf(text)).toBe(want));
  test.each([['', null], ['  ', null], ['0', 0], ['x', 'x']])('%s as a limit', (text, want) => expect(limitOf(text)).toBe(want));
});

describe('a draft', () => {
  test('of a whole project is right', () => expect(checkProject(shop)).toEqual({}));
  test('names each field that is wrong', () => {
    const draft = {
      ...shop, name: ' ', slug: '', retention_days: 'x' as unknown as number, occurrence_days: 0,
      limits: { events_per_minute: 'many' as unknown as number, new_records_per_hour: 1_000_000_001 }, noise: [shop.noise[0]!, newRule, { ...newRule, match: '* *' }],
    };
    expect(Object.keys(checkProject(draft))).toEqual(['name', 'slug', 'retention_days', 'occurrence_days', 'limits.events_per_minute', 'limits.new_records_per_hour', 'noise[1].match', 'noise[2].match']);
  });
});

describe('rules', () => {
  test('the errors of one, by field', () => {
    expect(ruleErrors({ 'noise[1].match': 'm', 'noise[10].match': 'no', name: 'n' }, 1)).toEqual({ match: 'm' });
  });
  test('labels of their fields', () => {
    expect(ruleLabel('noise[0].match')).toBe('Noise rule 1, match');
    expect(ruleLabel('noise[4]')).toBe('Noise rule 5');
    expect(ruleLabel('name')).toBeUndefined();
  });
  test('one changed, the others the same', () => {
    const [first] = shop.noise;
    expect(withRule([first!, newRule], 1, { match: 'x' })).toEqual([first, { ...newRule, match: 'x' }]);
  });
});

test.each([
  ['noise', [newRule], '1 rule'], ['noise', [], '0 rules'], ['limits.events_per_minute', null, 'the limit of the service'], ['limits.events_per_minute', 0, 'no limit'],
  ['limits.events_per_minute', 60, '60'], ['retention_days', 0, 'for ever'], ['occurrence_days', 7, '7 days'], ['name', 'x', undefined],
])('%s %j in words', (path, value, words) => expect(showValue(path, value)).toBe(words));

describe('what is refused', () => {
  const plain: Project = { ...shop, limits: { events_per_minute: null, new_records_per_hour: null }, noise: [{ field: 'class', match: 'Bot*', action: 'mute' }] };
  test('nothing of a plain project', () => expect(marksOf(plain)).toEqual([]));
  test('the archive, its own limits, and rules that drop', () => {
    const marks = marksOf({ ...shop, archived: true, limits: { events_per_minute: 600, new_records_per_hour: 0 } });
    expect(marks.map((m) => m.text)).toEqual(['archived', 'own limits', 'drops noise']);
    expect(marks[1]!.title).toBe('It may send 600 events a minute and any number of new records an hour');
    expect(marks[2]!.title).toBe('1 noise rule drops events of it');
  });
});

describe('a project', () => {
  test('is found by its slug and its number', () => {
    expect(projectOf([shop], 'Web-Shop')).toBe(shop);
    expect(projectOf([shop], '2')).toBe(shop);
    expect(projectOf([shop], 'web-shop,3')).toBeUndefined();
  });
  test('of a row has a name, and a place in addresses', () => {
    const of = (project: string, project_id: number) => [projectName([shop], { project, project_id }), projectParam({ project, project_id })];
    expect(of('old-slug', 2)).toEqual(['Web shop', 'old-slug']);
    expect(of('project-7', 7)).toEqual(['project-7', 'project-7']);
    expect(of('', 0)).toEqual(['unknown', '0']);
  });
});

test('a ready set needs no text', () => expect(checkProject({ ...shop, noise: [setRule('crawlers')] })).toEqual({}));

test('switches of the context in a note', () => {
  expect(showValue('context.vars', 'shapes')).toBe('Keep their shapes');
  expect(showValue('context.extra', false)).toBe('not kept');
  expect(showValue('context.extra', true)).toBe('kept');
});
