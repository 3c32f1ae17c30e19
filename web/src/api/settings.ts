// The routes of the settings and of operation.
import { answered, bearer, call, failure, newOnce, root, type Answer } from './client';
import type { Key, OpsStatus, Overview, SparkRange } from './types';
import { parseSamples, type Sample } from '../lib/samples';

/** 0 or 1. */
export type Flag = number;

export interface Warnings {
  warnings?: { code: string; message: string }[];
}

export interface LogSettings {
  error_log: boolean;
  error_debug: boolean;
  development: boolean;
  module_log: boolean;
  query_logging: boolean;
  query_logging_ips: string[];
}

export interface TwoFactor {
  authentications: string[];
  admin: Flag;
  client: Flag;
  show_popup: Flag;
}

export interface Method {
  key: string;
  name: string;
  enabled: boolean;
  installed: boolean;
}

export interface Sides<T> {
  admin: T;
  client: T;
}

export type LocationSetting = Sides<{ status: Flag; method: string; type: string }>;
export type AddressSetting = Sides<{ status: Flag; whitelist: string }>;

export interface Localization {
  ip_module: string;
}

const security = '/settings/security';

export const paths = {
  logging: '/tools/logs/settings',
  twoFactor: `${security}/two-factor`,
  location: `${security}/location-verification`,
  addresses: `${security}/ip-verification`,
  localization: '/settings/localization',
} as const;

export async function read<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await call<T>('GET', path, { signal })).data;
}

export function write<T>(path: string, body: unknown): Promise<Answer<T, Warnings>> {
  return call<T, Warnings>('PUT', path, { body });
}

export function methods(signal?: AbortSignal): Promise<Method[]> {
  return read<Method[]>(`${paths.twoFactor}/methods`, signal);
}

export function sendTestMail(to: string) {
  return call<{ sent: boolean }>('POST', '/settings/mail/test', { body: { to }, once: newOnce() });
}

export interface NewKey {
  name: string;
  kind: Key['kind'];
  scopes?: string[];
  project?: number;
  /** The projects that it is limited to; all when left out. */
  projects?: number[];
  expires_in_days: number;
}

export async function createKey(key: NewKey, once: string): Promise<Key> {
  return (await call<Key>('POST', '/keys', { body: key, once })).data;
}

export async function revokeKey(id: string): Promise<void> {
  await call('DELETE', `/keys/${encodeURIComponent(id)}`);
}

export interface AuditEntry {
  n: number;
  time: string;
  actor: { key_id: string; key_name: string; ip: string };
  action: string;
  route: string;
  scope: string;
  request_id: string;
  before: unknown;
  after: unknown;
  request: unknown;
  result: unknown;
  source: { stream: string; sequence: number };
  prev: string;
  hash: string;
}

export interface AuditMeta {
  next_cursor: number;
  limit: number;
  behind?: boolean;
}

export interface Verdict {
  ok: boolean;
  entries: number;
  head: string;
  problem: { n: number; reason: string } | null;
}

export interface Preview {
  before: string;
  count: number;
  books: { system: number; database: number };
}

export interface CleanedUp {
  cleared: boolean;
  before: string;
  deleted: { system: number; database: number };
}

const cleanup = '/tools/logs/errors/cleanup';

export async function previewCleanup(before: string): Promise<Preview> {
  return (await call<Preview>('POST', `${cleanup}/preview`, { body: { before } })).data;
}

export async function cleanUp(before: string, once: string): Promise<CleanedUp> {
  return (await call<CleanedUp>('POST', cleanup, { body: { before }, once })).data;
}

export interface FileNote {
  file: string;
  reason: string;
}

export interface Rebuilt {
  rebuilt: boolean;
  count: number;
  files: number;
  unreadable: number;
  skipped: FileNote[];
  warnings: FileNote[];
}

export interface ImportProgress {
  running: boolean;
  file: string;
  bytes_done: number;
  bytes_total: number;
  lines: number;
  events: number;
}

export const importPath = '/tools/logs/errors/rebuild';

export interface Tally {
  checkpoint: number;
  records: number;
  count: number;
  payloads: number;
  hours: number;
  /** The events by environment and release; 0 where an older version has made the records. */
  deployed: number;
  /** The occurrences of all records; 0 where an older version has made the records. */
  occurred: number;
  records_checksum: string;
  payloads_checksum: string;
  hours_checksum: string;
  deployments_checksum: string;
  occurrences_checksum: string;
}

/** Facts that the log lacks. */
export interface LogGap {
  from: number;
  to: number;
  why: 'missing' | 'unreadable' | 'older';
  least_events: number;
  most_events: number;
  /** How many of the facts may have been commands or settings. */
  others: number;
  files: string;
  by: '' | 'policy' | 'operator' | 'closed';
  name: string;
}

export interface Replayed {
  swapped: boolean;
  from: number;
  facts: number;
  events: number;
  took_ms: number;
  paused_ms: number;
  live: Tally;
  replayed: Tally;
  /** An older version has made some of the live records; what it saw otherwise was left out of the comparison. */
  outdated: boolean;
  differences: string[];
  /** What the log lacks, accepted or not. */
  gaps: LogGap[];
}

export interface ReplayProgress {
  running: boolean;
  sequence: number;
  target: number;
  events: number;
}

export const replayPath = '/ops/replay';

export interface Letter {
  id: number;
  at: string;
  subject: string;
  reason: string;
  message: string;
  body: string;
  cut: boolean;
}

export interface LetterMeta {
  next_cursor: number;
  limit: number;
  total: number;
}

export const lettersPath = '/ops/dead';

export async function getOverview(range: SparkRange, project: string, signal?: AbortSignal): Promise<Overview> {
  return (await call<Overview>('GET', '/tools/logs/overview', { query: { range, project }, signal })).data;
}

export interface Status extends OpsStatus {
  /** Counters; absent where the service does not return them, for example behind a proxy that hides them. */
  samples: Sample[];
}

export async function getStatus(signal?: AbortSignal): Promise<Status> {
  const [status, samples] = await Promise.all([read<OpsStatus>('/ops/status', signal), getSamples(signal)]);
  return { ...status, samples };
}

async function getSamples(signal?: AbortSignal): Promise<Sample[]> {
  const response = await answered(`${root}metrics`, { headers: { Accept: 'text/plain', ...bearer() }, cache: 'no-store', signal });
  if (response.status === 401) throw await failure(response);
  return response.ok && response.headers.get('Content-Type')?.startsWith('text/plain') ? parseSamples(await response.text()) : [];
}
