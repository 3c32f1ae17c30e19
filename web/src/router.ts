// The query of the address says where one is, so that a reload and a link show
// the same: ?view=settings&tab=keys, ?levels=fatal&record=…
import { computed, signal } from '@preact/signals';

export type View = 'errors' | 'overview' | 'projects' | 'settings';

const views: readonly View[] = ['errors', 'overview', 'projects', 'settings'];

/** The query of the address. Treat as read-only; change it with go. */
export const query = signal(new URLSearchParams(location.search));

export const view = computed<View>(() => {
  const name = query.value.get('view');
  return views.find((v) => v === name) ?? 'errors';
});

/** The part of the settings that is shown; '' for the first. */
export const tab = computed(() => query.value.get('tab') ?? '');

addEventListener('popstate', () => {
  query.value = new URLSearchParams(location.search);
});

export type Params = Record<string, string | number | undefined>;

/** The address of a place in the page: only these parameters. */
export function hrefTo(params: Params): string {
  return address(fromParams(params));
}

/** The address of this place with some parameters changed; '' and undefined remove one. */
export function hrefWith(changes: Params): string {
  return address(changed(changes));
}

/** Goes to this place with some parameters changed. With replace, Back skips it. */
export function change(changes: Params, how: 'push' | 'replace' = 'push'): void {
  go(changed(changes), how);
}

/** Goes to exactly these parameters. */
export function go(next: URLSearchParams, how: 'push' | 'replace' = 'push'): void {
  if (next.toString() === query.value.toString()) return;
  history[how === 'push' ? 'pushState' : 'replaceState'](null, '', address(next));
  query.value = next;
}

/** For onClick of a link: stays in the page unless a new tab is asked for. */
export function follow(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.currentTarget as HTMLAnchorElement;
  event.preventDefault();
  go(new URLSearchParams(link.search));
}

function fromParams(params: Params): URLSearchParams {
  const out = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== '') out.set(name, String(value));
  }
  return out;
}

function changed(changes: Params): URLSearchParams {
  const out = new URLSearchParams(query.value);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') out.delete(name);
    else out.set(name, String(value));
  }
  return out;
}

function address(params: URLSearchParams): string {
  const text = params.toString();
  return location.pathname + (text ? `?${text}` : '');
}
