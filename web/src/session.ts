// Who is signed in. The key is in sessionStorage, which the tab loses when it is
// closed, or where one asked for it in localStorage, until one signs out. It is sent
// as a Bearer header; there is no cookie. Behind a reverse proxy that sets the header
// itself, there is no key here at all.
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

/** The key stays on this device until one signs out. */
export const remembered = signal(false);

// A key of this tab alone goes before the one of the device.
caller.key = sessionStorage.getItem(place) ?? '';
if (caller.key === '') {
  caller.key = localStorage.getItem(place) ?? '';
  remembered.value = caller.key !== '';
}
caller.refused = expire;

// Whoever signs out in one tab means the device.
addEventListener('storage', (event) => {
  if (event.key === place && event.newValue === null && remembered.peek() && phase.peek() === 'in') leave('You have signed out in another tab.');
});

/** Whether the key holds the scope, such as Tools/DeleteErrorLogs. */
export function can(scope: string): boolean {
  return holds(who.value?.scopes ?? [], scope);
}

/** Why a button is disabled, for its title; '' when the key has the scope. */
export function lacking(scope: string): string {
  return can(scope) ? '' : `Your key does not hold the scope ${scope}.`;
}

/** Called at the start of the page: with the key of the tab or of the device, or with none in case a proxy adds one. */
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

/** Signs in with a key, and keeps it on the device if asked. Throws ApiError when that fails. */
export async function signIn(text: string, remember: boolean): Promise<void> {
  caller.key = text;
  try {
    await enter();
  } catch (error) {
    caller.key = '';
    throw error;
  }
  (remember ? localStorage : sessionStorage).setItem(place, caller.key);
  remembered.value = remember;
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

/** Also forgets a key that another tab has left on this device. */
export function signOut(): void {
  localStorage.removeItem(place);
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
    // The key of another tab stays where that tab put it.
    if (remembered.peek()) localStorage.removeItem(place);
    remembered.value = false;
  }
  mayRetry.value = keep;
  who.value = null;
  reason.value = why;
  phase.value = 'out';
}
