// The routes of the records.
import { call, newOnce } from './client';
import type { Detail, PageMeta, ReleaseTrend, Row, SparkRange, Status, Trend, Trends, Book } from './types';
import { keyOf } from '../lib/live';

const errors = '/tools/logs/errors';

export interface RecordRef {
  type: Book;
  signature: string;
}

export async function listErrors(query: URLSearchParams, signal?: AbortSignal): Promise<{ rows: Row[]; meta: PageMeta }> {
  const { data, meta } = await call<Row[], PageMeta>('GET', errors, { query, signal });
  return { rows: data, meta };
}

export async function getError(ref: RecordRef, signal?: AbortSignal): Promise<Detail> {
  return (await call<Detail>('GET', `${errors}/${ref.signature}`, { query: { type: ref.type }, signal })).data;
}

export async function getTrend(ref: RecordRef, range: string, signal?: AbortSignal): Promise<Trend> {
  return (await call<Trend>('GET', `${errors}/${ref.signature}/trend`, { query: { type: ref.type, range }, signal })).data;
}

export async function getReleaseTrend(ref: RecordRef, range: string, signal?: AbortSignal): Promise<ReleaseTrend> {
  return (await call<ReleaseTrend>('GET', `${errors}/${ref.signature}/trend/releases`, { query: { type: ref.type, range }, signal })).data;
}

/** The trends of at most 100 records in one call. */
export async function getTrends(refs: readonly RecordRef[], range: SparkRange, signal?: AbortSignal): Promise<Trends> {
  return (await call<Trends>('GET', `${errors}/trends`, { query: { signatures: refs.map(keyOf).join(','), range }, signal })).data;
}

/** The records that a command is about: by their signatures, or all that the list shows for its parameters. */
export type Meant = { signatures: readonly string[] } | { filter: Record<string, string | string[]> };

/** Returns how many records were meant. */
export async function setStatus(of: Meant, status: Status): Promise<number> {
  return (await call<{ count: number }>('POST', `${errors}/status`, { body: { ...of, status }, once: newOnce() })).data.count;
}

/** Returns how many records were deleted. */
export async function deleteErrors(of: Meant): Promise<number> {
  return (await call<{ count: number }>('DELETE', errors, { body: of })).data.count;
}

export const streamPath = `${errors}/stream`;
