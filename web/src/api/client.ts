// All calls to the service: JSON over fetch, with the key of the person who is
// signed in.

import { forgetSeen, noteSeen, seenHeader } from './position';

/** The caller: the session sets both fields, so that this file need not import it. */
export const caller = {
  /** '' for none: a proxy may add the header itself. */
  key: '',
  /** Called when the service refuses the key. */
  refused: () => {},
};

/** The authorization header; empty without a key. */
export function bearer(): Record<string, string> {
  return caller.key ? { Authorization: `Bearer ${caller.key}` } : {};
}

/** An answer that is not 2xx, or no answer (status 0). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details: unknown = undefined,
    readonly requestId = '',
    /** Seconds; 0 when the answer named none. */
    readonly retryAfter = 0,
    /** The cause, while error_debug is on. */
    readonly debug = '',
  ) {
    super(message);
  }

  /** The field that was refused, or ''. */
  get field(): string {
    const field = (this.details as { field?: unknown } | undefined)?.field;
    return typeof field === 'string' ? field : '';
  }

  /** The scope that the key lacks, or ''. */
  get scope(): string {
    const details = this.details as { scope?: unknown } | undefined;
    return this.code === 'insufficient_scope' && typeof details?.scope === 'string' ? details.scope : '';
  }
}

export interface Answer<T, M = Record<string, unknown>> {
  data: T;
  meta: M;
}

export interface CallOptions {
  query?: Record<string, string | number | undefined> | URLSearchParams;
  body?: unknown;
  signal?: AbortSignal;
  /** Makes repeats of this call have one effect: pass newOnce() and keep it over retries. */
  once?: string;
}

/** Relative to the path of the page, so that a proxy may add a prefix. */
export const root = location.pathname.replace(/[^/]*$/, '');

const admin = `${root}api/v1/admin`;

export function newOnce(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');
}

/** The URL of an admin route; path begins with a slash, after /api/v1/admin. */
export function adminURL(path: string, query?: CallOptions['query']): string {
  const params = query instanceof URLSearchParams ? query : new URLSearchParams();
  if (query && !(query instanceof URLSearchParams)) {
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== '') params.set(name, String(value));
    }
  }
  const text = params.toString();
  return admin + path + (text ? `?${text}` : '');
}

/**
 * Calls an admin route and returns data and meta. Throws ApiError; a 401 also
 * ends the session. An aborted call throws the DOMException of fetch.
 */
export async function call<T, M = Record<string, unknown>>(
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  options: CallOptions = {},
): Promise<Answer<T, M>> {
  const position = seenHeader();
  const headers: Record<string, string> = { Accept: 'application/json', ...bearer(), ...position };
  const init: RequestInit = { method, headers, cache: 'no-store', redirect: 'error' };
  if (options.signal) init.signal = options.signal;
  if (options.once) headers['Idempotency-Key'] = options.once;
  if (options.body !== undefined) {
    headers['Content-Type'] = 'application/json';
    init.body = JSON.stringify(options.body);
  }
  const response = await answered(adminURL(path, options.query), init);
  noteSeen(response.headers);
  if (!response.ok) {
    const error = await failure(response);
    if (error.code !== 'unknown_position' || !Object.keys(position).length) throw error;
    forgetSeen(); // nothing was done
    return call(method, path, options);
  }
  const body = (await response.json()) as { data: T; meta?: M };
  return { data: body.data, meta: body.meta ?? ({} as M) };
}

/** fetch, with an ApiError of status 0 when there is no answer. */
export async function answered(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause;
    throw new ApiError(0, 'unreachable', 'The service does not answer. Is it running, and is the network up?');
  }
}

/** The error of an answer. A 401 ends the session, see caller. */
export async function failure(response: Response): Promise<ApiError> {
  const after = Number(response.headers.get('Retry-After')) || 0;
  let error: ApiError;
  try {
    const { error: e } = (await response.json()) as {
      error: { code: string; message: string; details?: unknown; request_id?: string; debug?: string };
    };
    error = new ApiError(response.status, e.code, e.message, e.details, e.request_id, after, e.debug);
  } catch {
    // Most likely a proxy in between.
    error = new ApiError(response.status, 'unknown', `The answer, with status ${response.status}, did not come from Errata. A proxy may have sent it.`, undefined, '', after);
  }
  if (response.status === 401) caller.refused();
  return error;
}
