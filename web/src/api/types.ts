// The types of the API, as in the OpenAPI document.

export type Book = 'system' | 'database';
export type Level = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'fatal';
export type Status = 'open' | 'resolved' | 'muted';

export const books: readonly Book[] = ['system', 'database'];
/** From the lowest to the highest. */
export const levels: readonly Level[] = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'fatal'];
export const statuses: readonly Status[] = ['open', 'resolved', 'muted'];

export interface Whoami {
  name: string;
  kind: string;
  id: string;
  scopes: string[];
  expires_at: string | null;
  /** The caller's own address, as the service sees it. */
  address: string;
  version: string;
  development: boolean;
  /** What is wrong with the data or the service. */
  alarms: readonly Alarm[];
}

export interface Alarm {
  name: string;
  /** What is wrong. */
  detail: string;
  /** What to do next. */
  hint: string;
  since: string;
}

/** A row of the list. */
export interface Row {
  id: number;
  signature: string;
  type: Book;
  level: Level;
  count: number;
  first_seen: string;
  last_seen: string;
  file: string;
  line: number;
  message_preview: string;
  exception_class: string;
  request_uri: string;
  request_method: string;
  user_id: number;
  ip: string;
  status: Status;
  regressed: boolean;
  /** It counts events of problems beyond the hour's budget of new records. */
  overflow: boolean;
  /** The slug; '' when the project is not known. */
  project: string;
  /** The number; 0 when the project is not known. */
  project_id: number;
  /** The three in which it was seen last, the latest first. */
  environments: string[];
  releases: string[];
  /** Different users within the occurrences kept. */
  users: number;
}

export interface Frame {
  file?: string;
  line?: number;
  column?: number;
  function?: string;
  module?: string;
  in_app?: boolean;
  args?: string[];
  /** The line of the call, and some before and after it. */
  context?: string;
  pre?: string[];
  post?: string[];
  /** The variables there: the shape of each, or its value. */
  vars?: Record<string, string>;
}

export interface Exception {
  class?: string;
  message?: string;
  module?: string;
  frames?: Frame[];
  /** With the id of the one that it belongs to; without them each is the cause of the next. */
  id?: number;
  parent?: number;
  /** Those that name it as their parent are its members, not its causes. */
  group?: boolean;
  mechanism?: string;
}

/** The context of an event. Applications may send anything, so no field is certain. */
export interface Payload {
  source?: string;
  event_id?: string;
  message?: string;
  exceptions?: Exception[];
  handled?: boolean;
  user?: string;
  request?: { headers?: Record<string, string> } & Record<string, unknown>;
  tags?: Record<string, string>;
  release?: string;
  environment?: string;
  server_name?: string;
  platform?: string;
  sdk?: string;
  runtime?: string;
  os?: string;
  trace_id?: string;
  span_id?: string;
  transaction?: string;
  logger?: string;
  breadcrumbs?: unknown;
  contexts?: Record<string, unknown>;
  extra?: Record<string, unknown>;
  truncated?: string[];
  [name: string]: unknown;
}

export interface Detail extends Row {
  /** That of the first event. */
  payload: Payload;
}

export interface PageMeta {
  total: number;
  page: number;
  limit: number;
  next_page: number;
  /** The numbers of the rows are those within the chosen environments, releases and tags. */
  scoped: boolean;
}

export interface Trend {
  signature: string;
  type: Book;
  range: string;
  step: 'hour' | 'day';
  from: string;
  to: string;
  total: number;
  buckets: { time: string; count: number }[];
}

/** One number for each step, and their sum. */
export interface StepCounts {
  count: number;
  counts: number[];
}

/** In each step the parts add up to counts. */
export interface ReleaseTrend extends Omit<Trend, 'buckets'> {
  counts: number[];
  /** The most events first; an empty value is no release. */
  releases: (StepCounts & { value: string })[];
  others: StepCounts & { releases: number };
  /** Events whose release is not known any more. */
  not_kept: StepCounts;
}

export type SparkRange = '24h' | '14d';

export interface Trends {
  range: string;
  step: 'hour' | 'day';
  from: string;
  to: string;
  trends: { signature: string; type: Book; total: number; counts: number[] }[];
}

export interface StreamRecords {
  records: Row[];
  /** The number of changed records that were too many to send. */
  more: number;
  gone: { type: Book; signature: string }[];
  total_changed: number;
}

export interface Overview {
  range: string;
  step: 'hour' | 'day';
  from: string;
  to: string;
  series: { type: Book; level: Level; counts: number[] }[];
  growing: { record: Row; before: number; now: number }[];
  noisy: { record: Row; count: number }[];
  /** The most events first. */
  by_project: { project: string; project_id: number; events: number }[];
}

/** Measurements; null where a value was not known in time. */
export interface Figures {
  events_per_second: number;
  lag_facts: number | null;
  lag_ms: number;
  log_bytes: number | null;
  log_max_bytes: number | null;
  disk_free_bytes: number | null;
  disk_total_bytes: number | null;
  clickhouse_bytes: number | null;
  lost_at_senders: number | null;
  dropped_by_switch: number | null;
}

export interface OpsStatus {
  ok: boolean;
  figures: Figures;
  checks: { name: string; ok: boolean; detail: string; hint?: string }[];
}

export interface Key {
  id: string;
  name: string;
  kind: 'adm' | 'ing' | 'ops';
  scopes: string[];
  project: number;
  /** It sees and changes only these; empty for all. */
  projects: number[];
  state: 'active' | 'expired' | 'revoked';
  created_at: string;
  expires_at: string | null;
  /** It works and ends within 30 days. */
  ends_soon: boolean;
  last_used_at: string | null;
  revoked_at: string | null;
  dsn?: string;
  /** Only in the answer to its creation. */
  key?: string;
}
