import { describe, expect, test } from 'vitest';
import type { Rehearsal, Rehearsed, Rule } from '../src/api/alerts';
import { bodyOf, channelBody, channelDraft, draftOf, following, follows, formField, limitWords, newChannel, newRule, notCountedWords, projectWords, rehearsalWords, whenWords } from '../src/lib/alerts';

const rule: Rule = {
  id: 'rule-a', name: 'In production', enabled: true, projects: [2], environments: ['production', 'qa'], levels: ['fatal'], books: ['database'], signatures: [], search: 'order',
  when: { new: true, reached: { count: 7 }, frequency: { count: 100, users: 5, minutes: 3 }, spike: { factor: 4, minutes: 30 }, quiet: { minutes: 90 } }, throttle_minutes: 10, to: ['channel-a'],
};

describe('a rule', () => {
  test('comes back from the form as it was', () => {
    const { id, enabled, ...want } = rule;
    expect([id, enabled]).toEqual(['rule-a', true]);
    expect(bodyOf(draftOf(rule))).toEqual(want);
  });
  test('has only the causes that are ticked', () => {
    expect(bodyOf({ ...draftOf(rule), on: ['quiet'] }).when).toEqual({ quiet: { minutes: 90 } });
    expect(bodyOf(newRule).when).toEqual({ new: true, regressed: true });
  });
  test('sends what is no number as it was typed', () => {
    const body = bodyOf({ ...newRule, on: ['reached'], numbers: { ...newRule.numbers, reached: ' 1e3 ', throttle: '' } });
    expect([body.when.reached?.count, body.throttle_minutes]).toEqual(['1e3', 0]);
  });
  test.each([['when.frequency.minutes', 'minutes'], ['throttle_minutes', 'throttle'], ['to[1]', 'to'], ['when', 'when'], ['when.neww', 'when'], ['environments[0]', 'environments'], ['name', 'name']])(
    'the refusal of %s is shown at %s', (field, want) => expect(formField(field)).toBe(want),
  );
  test('in words', () => {
    expect(whenWords(rule.when)).toBe('new problems, 7 events, 100 events by 5 users in 3 minutes, 4 times the usual in 30 minutes, nothing for 90 minutes');
    expect(limitWords(rule, (id) => `project ${id}`)).toBe('project 2, production, qa, fatal, book database, “order”');
    expect(limitWords({ ...rule, projects: [], environments: [], levels: [], books: [], search: '' }, String)).toBe('');
  });
});

describe('a preview', () => {
  const of: Rehearsal = { from: '2026-11-18T09:00:00.000Z', to: '2026-11-25T09:00:00.000Z', fired: 14, messages: 12, days: [], not_counted: [], latest: [] };
  test.each<[Partial<Rehearsal>, Rule['when'], string]>([
    [{}, { new: true }, 'It would have fired 14 times in the last 7 days, in 12 messages.'],
    [{ fired: 1, messages: 1 }, { new: true }, 'It would have fired 1 time in the last 7 days.'],
    [{ fired: 0 }, { new: true }, 'It would not have fired in the last 7 days.'],
    [{ from: '2026-11-25T06:00:00.000Z', messages: 14 }, { new: true }, 'It would have fired 14 times in the last 3 hours.'],
    [{ from: '2026-11-22T09:00:00.000Z', messages: 14 }, { new: true }, 'It would have fired 14 times in the last 3 days.'],
    [{ fired: 0, not_counted: ['regressed'] }, { regressed: true }, ''],
    [{ fired: 0, not_counted: ['regressed'] }, { new: true, regressed: true }, 'It would not have fired in the last 7 days.'],
  ])('%o %o', (change, when, want) => expect(rehearsalWords({ ...of, ...change }, when)).toBe(want));
});

test('what projects fire', () => {
  const of = { cause: 'spike', events: 1200, usual: 8, minutes: 10 } as Rehearsed;
  expect(projectWords(of)).toBe('1,200 events in 10 minutes, usually 8');
  expect(projectWords({ ...of, cause: 'quiet', minutes: 60 })).toBe('nothing for 60 minutes');
});

test('what a preview leaves out', () => {
  const of = { not_counted: [] as string[] } as Rehearsal;
  expect(notCountedWords(of)).toBe('');
  expect(notCountedWords({ ...of, not_counted: ['regressed'] })).toContain('come back');
});

describe('a channel', () => {
  test('has the fields of its kind', () => {
    expect(channelBody({ ...newChannel, url: ' https://example.com/hook ', chat: 'x' })).toEqual({ name: 'Webhook', kind: 'webhook', url: 'https://example.com/hook' });
    expect(channelBody({ ...newChannel, kind: 'email', url: 'x', addresses: 'a@example.com, b@example.com\n' })).toEqual({ name: 'E-mail', kind: 'email', addresses: ['a@example.com', 'b@example.com'] });
    expect(channelBody({ ...newChannel, kind: 'telegram', secret: '1:x', chat: '@ops' })).toEqual({ name: 'Telegram', kind: 'telegram', url: 'https://api.telegram.org', secret: '1:x', chat: '@ops' });
    expect(channelBody({ ...newChannel, kind: 'slack', secret: 'left from another kind' })).not.toHaveProperty('secret');
  });
  test('keeps a secret that nobody types', () => {
    expect(channelBody(channelDraft({ id: 'channel-a', name: 'Hook', kind: 'webhook', enabled: true, url: 'https://h' }))).toEqual({ name: 'Hook', kind: 'webhook', url: 'https://h' });
  });
});

describe('the rule of followed problems', () => {
  const followed = { ...rule, when: { new: true, regressed: true }, signatures: ['0'.repeat(32)] };
  test.each<[Partial<Rule>, boolean]>([[{}, true], [{ signatures: [] }, false], [{ to: ['channel-a', 'channel-b'] }, false], [{ to: ['channel-b'] }, false], [{ when: { new: true } }, false]])(
    '%o', (change, want) => expect(follows({ ...followed, ...change }, 'channel-a')).toBe(want),
  );

  const channel = { id: 'channel-a', name: 'On call', kind: 'email', enabled: true } as const;
  test('grows and shrinks with what is followed', () => {
    expect(following(undefined, channel, 'ab', true)).toEqual({ name: 'Followed problems, to On call', when: { new: true, regressed: true }, signatures: ['ab'], to: ['channel-a'] });
    expect(following(followed, channel, 'ab', true)).toEqual({ signatures: ['0'.repeat(32), 'ab'] });
    expect(following({ ...followed, signatures: ['ab', 'cd'] }, channel, 'ab', false)).toEqual({ signatures: ['cd'] });
    expect(following(followed, channel, '0'.repeat(32), false)).toBeNull();
  });
});
