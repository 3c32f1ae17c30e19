// A stack for reading: the thrown exception first, the latest call first, and
// runs of other people's code folded.
import type { Exception, Frame } from '../api/types';

export interface Run {
  vendor: boolean;
  frames: Frame[];
}

/** The exceptions of a payload, the thrown one first. Payloads may hold anything. */
export function thrown(exceptions: unknown): Exception[] {
  if (!Array.isArray(exceptions)) return [];
  return exceptions.filter((e): e is Exception => typeof e === 'object' && e !== null).reverse();
}

/**
 * The frames, latest call first, in runs of the application's code and other
 * code. When no frame is marked as the application's, all count as its own.
 */
export function runs(frames: unknown): Run[] {
  if (!Array.isArray(frames)) return [];
  const list = frames.filter((f): f is Frame => typeof f === 'object' && f !== null).reverse();
  const known = list.some((f) => f.in_app === true);
  const out: Run[] = [];
  for (const frame of list) {
    const vendor = known && frame.in_app !== true;
    const last = out[out.length - 1];
    if (last && last.vendor === vendor) last.frames.push(frame);
    else out.push({ vendor, frames: [frame] });
  }
  return out;
}

export interface ContextLine {
  number: number;
  text: string;
  at: boolean;
}

/** The lines of code around a frame, where the sender gave them. */
export function context(frame: Frame): ContextLine[] {
  if (typeof frame.context_line !== 'string') return [];
  const before = lines(frame.pre_context);
  const first = (frame.line ?? 0) - before.length;
  return [...before, frame.context_line, ...lines(frame.post_context)].map((text, i) => ({ number: first + i, text, at: i === before.length }));
}

function lines(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((l): l is string => typeof l === 'string') : [];
}

export interface Crumb {
  time: string;
  category: string;
  message: string;
  level: string;
}

/** The breadcrumbs of a payload, from every place where senders put them. */
export function crumbs(payload: Record<string, unknown>): Crumb[] {
  const extra = payload.extra as Record<string, unknown> | undefined;
  let list: unknown = payload.breadcrumbs ?? extra?.breadcrumbs;
  if (list && !Array.isArray(list) && typeof list === 'object') list = (list as { values?: unknown }).values;
  if (!Array.isArray(list)) return [];
  return list.filter((c): c is Record<string, unknown> => typeof c === 'object' && c !== null).map((c) => ({
    time: typeof c.timestamp === 'number' ? new Date(c.timestamp * 1000).toISOString() : text(c.timestamp),
    category: text(c.category) || text(c.type),
    message: text(c.message) || (c.data === undefined ? '' : JSON.stringify(c.data)),
    level: text(c.level),
  }));
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
