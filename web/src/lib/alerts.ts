// Rules and channels of alerts: what their forms hold, and what they say in words.
import type { Channel, ChannelKind, Rehearsal, Rehearsed, Rule, When } from '../api/alerts';
import type { Level } from '../api/types';
import { namesOf } from './filters';
import { fullCount, plural } from './text';

/** The causes in the order of the form. */
export const causes = ['new', 'regressed', 'reached', 'frequency', 'spike', 'quiet'] as const;
export type Cause = (typeof causes)[number];

/** What a cause is, in words for its box. */
export const causeWords: Record<Cause, string> = {
  new: 'a problem is new',
  regressed: 'a resolved problem comes back',
  reached: 'a problem has happened often',
  frequency: 'a problem happens often in a short time',
  spike: 'a project has far more errors than usual',
  quiet: 'a project sends nothing',
};

/** The numbers of the causes, as they are typed. */
export interface Numbers {
  reached: string;
  count: string;
  users: string;
  minutes: string;
  factor: string;
  spike: string;
  quiet: string;
  throttle: string;
}

export type NumberName = keyof Numbers;

/** A rule as the form holds it. */
export interface RuleDraft {
  name: string;
  on: readonly Cause[];
  numbers: Numbers;
  projects: readonly number[];
  /** A list with commas. */
  environments: string;
  levels: readonly Level[];
  books: Rule['books'];
  signatures: readonly string[];
  search: string;
  to: readonly string[];
}

const usual: Numbers = { reached: '1000', count: '100', users: '', minutes: '10', factor: '5', spike: '10', quiet: '60', throttle: '' };

export const newRule: RuleDraft = {
  name: '', on: ['new', 'regressed'], numbers: usual, projects: [], environments: '', levels: [], books: [], signatures: [], search: '', to: [],
};

export function draftOf(rule: Rule): RuleDraft {
  const { reached, frequency, spike, quiet } = rule.when;
  const given = (n: number | undefined, other: string) => (n ? String(n) : other);
  return {
    name: rule.name, on: causes.filter((cause) => rule.when[cause]), projects: rule.projects, environments: rule.environments.join(', '), levels: rule.levels,
    books: rule.books, signatures: rule.signatures, search: rule.search, to: rule.to,
    numbers: {
      reached: given(reached?.count, usual.reached), count: given(frequency?.count, usual.count), users: given(frequency?.users, ''),
      minutes: given(frequency?.minutes, usual.minutes), factor: given(spike?.factor, usual.factor), spike: given(spike?.minutes, usual.spike),
      quiet: given(quiet?.minutes, usual.quiet), throttle: given(rule.throttle_minutes, ''),
    },
  };
}

/** A number as it was typed, or the text when it is none: the service then says what is wrong. */
function typed(text: string): number {
  const trimmed = text.trim();
  return (/^[0-9]+$/.test(trimmed) ? Number(trimmed) : trimmed || 0) as number;
}

/** The body for the API. */
export function bodyOf(draft: RuleDraft): Omit<Rule, 'id' | 'enabled'> {
  const n = draft.numbers;
  const all: Required<When> = {
    new: true, regressed: true, reached: { count: typed(n.reached) },
    frequency: { count: typed(n.count), ...(n.users.trim() ? { users: typed(n.users) } : {}), minutes: typed(n.minutes) },
    spike: { factor: typed(n.factor), minutes: typed(n.spike) }, quiet: { minutes: typed(n.quiet) },
  };
  return {
    name: draft.name.trim(), when: Object.fromEntries(draft.on.map((cause) => [cause, all[cause]])), projects: [...draft.projects],
    environments: namesOf(draft.environments), levels: [...draft.levels], books: [...draft.books], signatures: [...draft.signatures],
    search: draft.search.trim(), throttle_minutes: typed(n.throttle), to: [...draft.to],
  };
}

/** The number of the form that a field of the API is about. */
const numberFields: Record<string, NumberName> = {
  'when.reached.count': 'reached', 'when.frequency.count': 'count', 'when.frequency.users': 'users', 'when.frequency.minutes': 'minutes',
  'when.spike.factor': 'factor', 'when.spike.minutes': 'spike', 'when.quiet.minutes': 'quiet', throttle_minutes: 'throttle',
};

/** The field of the form that a field of the API is about: the name of a number or of a member of the draft. */
export function formField(field: string): string {
  return numberFields[field] ?? field.replace(/[.[].*$/, '');
}

/** The causes in words, as in "new problems, problems that come back". */
export function whenWords(when: When): string {
  const out: string[] = [];
  if (when.new) out.push('new problems');
  if (when.regressed) out.push('problems that come back');
  if (when.reached) out.push(`${fullCount(when.reached.count)} events`);
  if (when.frequency) {
    const users = when.frequency.users ? ` by ${plural(when.frequency.users, 'user')}` : '';
    out.push(`${plural(when.frequency.count, 'event')}${users} in ${plural(when.frequency.minutes, 'minute')}`);
  }
  if (when.spike) out.push(`${when.spike.factor} times the usual in ${plural(when.spike.minutes, 'minute')}`);
  if (when.quiet) out.push(`nothing for ${plural(when.quiet.minutes, 'minute')}`);
  return out.join(', ');
}

/** What the rule is limited to, in words; '' for nothing. */
export function limitWords(rule: Rule, projectName: (id: number) => string): string {
  const out = [...rule.projects.map(projectName), ...rule.environments, ...rule.levels];
  if (rule.books.length === 1) out.push(`book ${rule.books[0]}`);
  if (rule.signatures.length > 0) out.push(rule.signatures.length === 1 ? 'one problem' : plural(rule.signatures.length, 'problem'));
  if (rule.search) out.push(`“${rule.search}”`);
  return out.join(', ');
}

/** How often the rule would have fired, in a sentence; '' where none of its causes can be counted. */
export function rehearsalWords(of: Rehearsal, when: When): string {
  if (Object.keys(when).every((cause) => of.not_counted.includes(cause))) return '';
  const hours = Math.round((Date.parse(of.to) - Date.parse(of.from)) / 3_600_000);
  const time = hours >= 7 * 24 ? 'in the last 7 days' : hours >= 48 ? `in the last ${Math.round(hours / 24)} days` : `in the last ${plural(Math.max(1, hours), 'hour')}`;
  if (of.fired === 0) return `It would not have fired ${time}.`;
  const messages = of.messages === of.fired ? '' : `, in ${plural(of.messages, 'message')}`;
  return `It would have fired ${plural(of.fired, 'time')} ${time}${messages}.`;
}

/** What a project has fired, in words. */
export function projectWords(of: Rehearsed): string {
  return of.cause === 'spike' ? `${plural(of.events, 'event')} in ${plural(of.minutes, 'minute')}, usually ${fullCount(of.usual)}` : `nothing for ${plural(of.minutes, 'minute')}`;
}

const notCounted: Record<string, string> = {
  regressed: 'Problems that come back are not counted here: when they were resolved, only the log knows.',
};

/** Why some causes are not in it; '' when all are. */
export function notCountedWords(of: Rehearsal): string {
  return of.not_counted.map((cause) => notCounted[cause] ?? '').join(' ');
}

export const kindWords: Record<ChannelKind, string> = {
  webhook: 'Webhook', email: 'E-mail', slack: 'Slack', discord: 'Discord', teams: 'Microsoft Teams', mattermost: 'Mattermost', telegram: 'Telegram', ntfy: 'ntfy',
};

/** The kinds to choose from. */
export const kindChoices = Object.entries(kindWords).map(([value, label]) => ({ value, label }));

/** What the URL of a kind is, in a hint. */
export const urlHints: Partial<Record<ChannelKind, string>> = {
  webhook: 'It gets a signed POST for each message. https:// only, unless the operator allows the host.',
  slack: 'Of an incoming webhook, such as https://hooks.slack.com/services/…',
  discord: 'Of a webhook of the channel, such as https://discord.com/api/webhooks/…',
  teams: 'Of an incoming webhook of the channel.',
  mattermost: 'Of an incoming webhook, such as https://chat.example.com/hooks/…',
  ntfy: 'Of the topic, such as https://ntfy.sh/my-topic.',
};

/** A channel as the form holds it. */
export interface ChannelDraft {
  kind: ChannelKind;
  name: string;
  url: string;
  secret: string;
  chat: string;
  /** One on each line. */
  addresses: string;
}

export const newChannel: ChannelDraft = { kind: 'webhook', name: '', url: '', secret: '', chat: '', addresses: '' };

export function channelDraft(of: Channel): ChannelDraft {
  return { kind: of.kind, name: of.name, url: of.url ?? '', secret: '', chat: of.chat ?? '', addresses: (of.addresses ?? []).join('\n') };
}

/** The telegram service, unless another one is typed. */
const telegram = 'https://api.telegram.org';

/** The body for the API: the fields that the kind has. A secret that is not typed stays. */
export function channelBody(draft: ChannelDraft): Partial<Channel> {
  const body: Partial<Channel> = { name: draft.name.trim() || kindWords[draft.kind], kind: draft.kind };
  if (draft.kind === 'email') {
    body.addresses = draft.addresses.split(/[\s,;]+/).filter(Boolean);
    return body;
  }
  body.url = draft.url.trim() || (draft.kind === 'telegram' ? telegram : '');
  if (draft.secret.trim() && hasSecret(draft.kind)) body.secret = draft.secret.trim();
  if (draft.kind === 'telegram') body.chat = draft.chat.trim();
  return body;
}

export function hasSecret(kind: ChannelKind): boolean {
  return kind === 'webhook' || kind === 'telegram' || kind === 'ntfy';
}

/** Whether the rule is that of the problems that are followed over the channel. */
export function follows(rule: Rule, channel: string): boolean {
  return rule.to.length === 1 && rule.to[0] === channel && rule.signatures.length > 0 && whenWords(rule.when) === whenWords(followed);
}

/** The rule of followed problems after the record is followed, or is not any more; null where nothing is left of it. */
export function following(rule: Rule | undefined, channel: Channel, signature: string, on: boolean): Partial<Rule> | null {
  const others = (rule?.signatures ?? []).filter((other) => other !== signature);
  const signatures = on ? [...others, signature] : others;
  if (signatures.length === 0) return null;
  return rule ? { signatures } : { name: `Followed problems, to ${channel.name}`.slice(0, 100), when: followed, signatures, to: [channel.id] };
}

/** What whoever follows a problem is told. */
export const followed: When = { new: true, regressed: true };
