// The stream of changes, which is opened again whenever it ends.
import { signal } from '@preact/signals';
import { createParser } from 'eventsource-parser';
import { adminURL, answered, ApiError, bearer, failure } from './api/client';
import { streamPath } from './api/errors';
import type { StreamRecords } from './api/types';
import { backoff } from './lib/backoff';

/** off: the key lacks the scope, or the service has no stream. */
export type LiveState = 'connecting' | 'live' | 'waiting' | 'off';

export const live = signal<LiveState>('connecting');

// A heartbeat comes every 15 s: after two missing ones the connection is dead.
const silence = 40_000;

interface Ends {
  /** Connected, the first time or again; changes before that are not told. */
  onOpen: () => void;
  onRecords: (batch: StreamRecords) => void;
}

/** Follows the stream of a project, '' for all, until the returned function is called. */
export function followStream(project: string, ends: Ends): () => void {
  const stop = new AbortController();
  void follow(project, ends, stop.signal);
  return () => stop.abort();
}

async function follow(project: string, ends: Ends, stop: AbortSignal): Promise<void> {
  let tries = 0;
  live.value = 'connecting';
  while (!stop.aborted) {
    let wait = 0;
    try {
      await readOnce(project, stop, () => {
        tries = 0;
        live.value = 'live';
        ends.onOpen();
      }, ends.onRecords);
    } catch (error) {
      if (stop.aborted) return;
      if (error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429 && error.status !== 408) {
        live.value = 'off';
        return;
      }
      if (error instanceof ApiError) wait = error.retryAfter * 1000;
    }
    if (stop.aborted) return;
    live.value = 'waiting';
    await pause(Math.max(wait, backoff(tries++, Math.random())), stop);
  }
}

async function readOnce(project: string, stop: AbortSignal, onOpen: () => void, onRecords: (batch: StreamRecords) => void): Promise<void> {
  const dead = new AbortController();
  const end = () => dead.abort();
  stop.addEventListener('abort', end, { once: true });
  let timer = setTimeout(end, silence);
  try {
    const response = await answered(adminURL(streamPath, { project }), { headers: { Accept: 'text/event-stream', ...bearer() }, cache: 'no-store', signal: dead.signal });
    if (!response.ok || !response.body) throw await failure(response);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    // EventSource would be simpler, but cannot send the key.
    const parser = createParser({
      onEvent: ({ event, data }) => {
        if (event === 'hello') onOpen();
        else if (event === 'records') onRecords(JSON.parse(data) as StreamRecords);
      },
    });
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(end, silence);
      parser.feed(value);
    }
  } finally {
    clearTimeout(timer);
    stop.removeEventListener('abort', end);
  }
}

function pause(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      stop.removeEventListener('abort', done);
      removeEventListener('online', done);
      resolve();
    }
    stop.addEventListener('abort', done);
    addEventListener('online', done);
  });
}
