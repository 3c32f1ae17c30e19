// The routes of the single occurrences of a record.
import { call } from './client';
import type { RecordRef } from './errors';
import type { Level, Payload, Row } from './types';

/** The place of an event in the log. It is opaque here. */
export type Position = string | number;

/** One event that a record counts. */
export interface Occurrence {
  /** From 1, in the order of the log. */
  number: number;
  position: Position;
  event_id: string;
  /** When it happened. */
  time: string;
  received: string;
  environment: string;
  release: string;
  user: string;
  level: Level;
  server: string;
  transaction: string;
  trace_id: string;
  tags: Record<string, string> | null;
  /** The log still holds its event, or its payload was kept. */
  payload_available: boolean;
}

/** One of them with its payload, and the positions of those beside it. */
export interface OneOccurrence extends Occurrence {
  /** Empty when it is not available. */
  payload?: Payload | null;
  previous?: Position | null;
  next?: Position | null;
}

export interface OccurrencePage {
  list: Occurrence[];
  /** '' after the last one. */
  cursor: string;
}

/** The filters of a record's occurrences, by the API's names. */
export const occurrenceFilters = ['environment', 'release', 'user', 'tag', 'from', 'to'] as const;

/** Only those that are set. Several tags stand on a line each. */
export type OccurrenceFilter = Partial<Record<(typeof occurrenceFilters)[number], string>>;

export interface Named {
  value: string;
  count: number;
}

/** An environment or a release. */
export interface Deployed extends Named {
  first_seen: string;
  last_seen: string;
}

/** How the occurrences of a record are spread. */
export interface Facets {
  environments: Deployed[];
  releases: Deployed[];
  users: { count: number; top: Named[] };
  tags: Record<string, Named[]>;
}

const errors = '/tools/logs/errors';

/** The newest first. */
export async function listOccurrences(of: RecordRef, filter: OccurrenceFilter, cursor: string, limit: number, signal?: AbortSignal): Promise<OccurrencePage> {
  const query = new URLSearchParams({ type: of.type, limit: String(limit) });
  for (const name of occurrenceFilters) {
    for (const value of (filter[name] ?? '').split('\n')) if (value) query.append(name, value);
  }
  if (cursor) query.set('cursor', cursor);
  const { data, meta } = await call<Occurrence[], { next_cursor?: string | number | null }>('GET', `${errors}/${of.signature}/occurrences`, { query, signal });
  return { list: data, cursor: meta.next_cursor ? String(meta.next_cursor) : '' };
}

/** at is a position, first, or latest. */
export async function getOccurrence(of: RecordRef, at: Position, signal?: AbortSignal): Promise<OneOccurrence> {
  return (await call<OneOccurrence>('GET', `${errors}/${of.signature}/occurrences/${encodeURIComponent(at)}`, { query: { type: of.type }, signal })).data;
}

export async function getFacets(of: RecordRef, signal?: AbortSignal): Promise<Facets> {
  return (await call<Facets>('GET', `${errors}/${of.signature}/facets`, { query: { type: of.type }, signal })).data;
}

/** The record and the occurrence of an event id, with or without dashes. */
export async function findEvent(id: string, signal?: AbortSignal): Promise<{ record: Row; occurrence: Occurrence }> {
  return (await call<{ record: Row; occurrence: Occurrence }>('GET', `/tools/logs/occurrences/${encodeURIComponent(id)}`, { signal })).data;
}
