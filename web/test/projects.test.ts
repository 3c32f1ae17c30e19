import { describe, expect, test } from 'vitest';
import type { Project } from '../src/api/projects';
import { checkProject, limitOf, newRule, numberOf, ruleErrors, ruleLabel, showValue, withRule } from '../src/lib/projects';

const shop: Project = {
  id: 2, slug: 'web-shop', name: 'Web shop', platform: 'go', created_at: null, archived: false, dsn: '', retention_days: 0, occurrence_days: 30,
  limits: { events_per_minute: null, new_records_per_hour: 0 }, noise: [{ field: 'class', match: 'Bot*', action: 'drop' }],
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
