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

/** An exception with what caused it, or with the members of its group. */
export interface Cause {
  exception: Exception;
  /** How it belongs to the one above it; '' for the thrown one. */
  how: '' | 'caused by' | 'in the group';
  causes: Cause[];
}

/**
 * The exceptions as a tree. Where they do not say which one they belong to, each is
 * the cause of the one before it. What belongs to none, or to itself, belongs to the
 * thrown one, so that none is lost.
 */
export function causes(exceptions: unknown): Cause | null {
  const list = thrown(exceptions);
  const nodes = list.map((exception): Cause => ({ exception, how: '', causes: [] }));
  const first = nodes[0];
  if (!first) return null;
  const linked = list.some((e) => typeof e.parent === 'number');
  const byId = new Map(nodes.map((n, i) => [n.exception.id ?? (linked ? undefined : i), n]));
  nodes.forEach((node, i) => {
    if (i === 0) return;
    const parent = linked ? byId.get(node.exception.parent) : nodes[i - 1];
    const at = parent && !under(node, parent) ? parent : first;
    node.how = at.exception.group === true ? 'in the group' : 'caused by';
    at.causes.push(node);
  });
  return first;
}

/** Whether a node stands somewhere below another, or is it. */
function under(top: Cause, node: Cause): boolean {
  return top === node || top.causes.some((c) => under(c, node));
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

/** The frame to read first: the latest call of the application. */
export function firstFrame(exception: Exception): Frame | undefined {
  return runs(exception.frames).find((run) => !run.vendor)?.frames[0];
}

export interface ContextLine {
  number: number;
  text: string;
  at: boolean;
}

/** The lines of code around a frame, where the sender gave them. */
export function context(frame: Frame): ContextLine[] {
  if (typeof frame.context !== 'string') return [];
  const before = lines(frame.pre);
  const first = (frame.line ?? 0) - before.length;
  return [...before, frame.context, ...lines(frame.post)].map((text, i) => ({ number: first + i, text, at: i === before.length }));
}

/** The lines without the indentation that all of them have; cut is its length. */
export function dedented(list: readonly ContextLine[]): { lines: ContextLine[]; cut: number } {
  const starts = list.filter((l) => l.text.trim()).map((l) => /^\s*/.exec(l.text)![0]);
  let common = starts[0] ?? '';
  for (const start of starts) while (!start.startsWith(common)) common = common.slice(0, -1);
  return { lines: list.map((l) => ({ ...l, text: l.text.slice(common.length) })), cut: common.length };
}

function lines(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((l): l is string => typeof l === 'string') : [];
}

/** The variables of a frame, each with its shape or value as text. */
export function variables(frame: Frame): [string, string][] {
  if (typeof frame.vars !== 'object' || frame.vars === null) return [];
  return Object.entries(frame.vars as Record<string, unknown>).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]);
}

export interface Crumb {
  /** '' when it is not known. */
  time: string;
  category: string;
  message: string;
  level: string;
  data: Record<string, unknown> | null;
}

/** The breadcrumbs of a payload, the latest last. */
export function crumbs(payload: Record<string, unknown>): Crumb[] {
  const list: unknown = payload.breadcrumbs;
  if (!Array.isArray(list)) return [];
  return list.filter((c): c is Record<string, unknown> => typeof c === 'object' && c !== null).map((c) => {
    const category = text(c.category) || text(c.type);
    const data = typeof c.data === 'object' && c.data !== null && !Array.isArray(c.data) && Object.keys(c.data).length > 0 ? (c.data as Record<string, unknown>) : null;
    return { time: text(c.time), category, message: text(c.message) || request(data), level: text(c.level), data };
  });
}

/** A request in words: senders put it into the data alone. */
function request(data: Record<string, unknown> | null): string {
  if (!data) return '';
  const status = data.status_code;
  return [text(data.method), text(data.url), typeof status === 'number' || typeof status === 'string' ? `→ ${status}` : ''].filter(Boolean).join(' ');
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
