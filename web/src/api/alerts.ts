// The routes of alerts: rules, channels and deliveries.
import { call, newOnce } from './client';
import { read } from './settings';
import type { Book, Level } from './types';

export const alertScopes = { read: 'Alerts/Read', manage: 'Alerts/Manage' } as const;

/** What fires a rule: any of what is set. */
export interface When {
  new?: boolean;
  regressed?: boolean;
  reached?: { count: number };
  frequency?: { count: number; users?: number; minutes: number };
  /** Against the median of the project in the last week. */
  spike?: { factor: number; minutes: number };
  /** The project sends nothing. */
  quiet?: { minutes: number };
}

export interface Rule {
  id: string;
  name: string;
  enabled: boolean;
  /** An empty list stands for any, here and in the others. */
  projects: number[];
  environments: string[];
  levels: Level[];
  books: Book[];
  signatures: string[];
  search: string;
  when: When;
  throttle_minutes: number;
  /** Ids of channels. */
  to: string[];
}

export type ChannelKind = 'webhook' | 'email' | 'slack' | 'discord' | 'teams' | 'mattermost' | 'telegram' | 'ntfy';

export interface Channel {
  id: string;
  name: string;
  kind: ChannelKind;
  enabled: boolean;
  /** Whole for webhooks alone. */
  url?: string;
  chat?: string;
  addresses?: string[];
  /** That of a new webhook, once. */
  secret?: string;
}

/** What a receiver made of a message. */
export interface Try {
  at: string;
  ok: boolean;
  /** Of HTTP or SMTP, 0 for none. */
  status: number;
  answer: string;
  error: string;
}

export interface Delivery {
  id: string;
  rule: string;
  /** '' when there is no such rule any more; likewise of the channel. */
  rule_name: string;
  channel: string;
  channel_name: string;
  made: string;
  fired: number;
  subject: string;
  state: 'waiting' | 'sent' | 'failed';
  tries: number;
  /** null for one that has ended. */
  next: string | null;
  last: Try[];
}

/** What a rule would have fired. */
export interface Rehearsal {
  from: string;
  to: string;
  fired: number;
  messages: number;
  /** Periods of 24 hours up to `to`, the oldest first. */
  days: number[];
  not_counted: string[];
  latest: Rehearsed[];
}

export interface Rehearsed {
  cause: string;
  at: string;
  type: Book;
  /** '' for a project: then it has events and usual, or minutes. */
  signature: string;
  level: Level;
  exception_class: string;
  message_preview: string;
  count: number;
  project_id: number;
  events: number;
  usual: number;
  minutes: number;
}

const [rules, channels] = ['/alerts/rules', '/alerts/channels'];

export const listRules = (signal?: AbortSignal) => read<Rule[]>(rules, signal);
export const listChannels = (signal?: AbortSignal) => read<Channel[]>(channels, signal);

export async function listDeliveries(signal?: AbortSignal): Promise<Delivery[]> {
  return (await call<Delivery[]>('GET', '/alerts/deliveries', { query: { limit: 50 }, signal })).data;
}

/** Makes one with id '', else changes the fields that are sent. */
export async function writeRule(id: string, rule: Partial<Rule>, once: string): Promise<Rule> {
  return write<Rule>(rules, id, rule, once);
}

export async function writeChannel(id: string, channel: Partial<Channel>, once: string): Promise<Channel> {
  return write<Channel>(channels, id, channel, once);
}

async function write<T>(all: string, id: string, body: unknown, once: string): Promise<T> {
  return (id ? await call<T>('PATCH', `${all}/${id}`, { body }) : await call<T>('POST', all, { body, once })).data;
}

export async function deleteRule(id: string): Promise<void> {
  await call('DELETE', `${rules}/${id}`);
}

export async function deleteChannel(id: string): Promise<void> {
  await call('DELETE', `${channels}/${id}`);
}

/** Sends a message that says that it is a test. */
export async function testChannel(id: string): Promise<Try> {
  return (await call<Try>('POST', `${channels}/${id}/test`, { once: newOnce() })).data;
}

export async function rehearse(rule: Partial<Rule>, signal?: AbortSignal): Promise<Rehearsal> {
  return (await call<Rehearsal>('POST', `${rules}/preview`, { body: rule, signal })).data;
}
