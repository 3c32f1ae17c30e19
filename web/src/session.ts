// Who is signed in. The key is in sessionStorage, which the tab loses when it is
// closed, and is sent as a Bearer header; there is no cookie. Behind a reverse
// proxy that sets the header itself, there is no key here at all.
import { signal } from '@preact/signals';
import { ApiError, call, caller } from './api/client';
import type { Whoami } from './api/types';
import { holds } from './lib/scopes';

const place = 'errata.key';

export type Phase = 'checking' | 'out' | 'in';

export const phase = signal<Phase>('checking');
export const who = signal<Whoami | null>(null);
/** Why one is signed out, in words; '' when there is no reason to show. */
export const reason = signal('');
/** Signed in without a key of our own. */
export const byProxy = signal(false);

/** The key was kept: signing in failed for a reason that may be temporary. */
export const mayRetry = signal(false);

caller.key = sessionStorage.getItem(place) ?? '';
caller.refused = expire;

/** Whether the key holds the scope, such as Tools/DeleteErrorLogs. */
export function can(scope: string): boolean {
  return holds(who.value?.scopes ?? [], scope);
}

/** Called at the start of the page: with the key of the tab, or with none in case a proxy adds one. */
export async function begin(): Promise<void> {
  const had = caller.key !== '';
  try {
    await enter();
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) {
      leave(had ? 'Your session has ended: the key was revoked or has expired. Sign in again.' : '');
    } else {
      leave(error instanceof Error ? error.message : String(error), had);
    }
  }
}

/** Signs in with a key. Throws ApiError when that fails. */
export async function signIn(text: string): Promise<void> {
  caller.key = text;
  try {
    await enter();
  } catch (error) {
    caller.key = '';
    throw error;
  }
  sessionStorage.setItem(place, caller.key);
  reason.value = '';
}

async function enter(): Promise<void> {
  const { data } = await call<Whoami>('GET', '/whoami');
  byProxy.value = caller.key === '';
  who.value = data;
  phase.value = 'in';
}

/** Reads what the service knows of the key now, and which alarms stand. */
export async function refresh(signal: AbortSignal): Promise<Whoami> {
  const { data } = await call<Whoami>('GET', '/whoami', { signal });
  return data;
}

export function signOut(): void {
  leave('');
}

/** The service no longer accepts the key. */
function expire(): void {
  if (phase.value === 'in') leave('Your session has ended: the key was revoked or has expired. Sign in again.');
}

function leave(why: string, keep = false): void {
  if (!keep) {
    caller.key = '';
    sessionStorage.removeItem(place);
  }
  mayRetry.value = keep;
  who.value = null;
  reason.value = why;
  phase.value = 'out';
}
