// Short messages at the edge of the page: what was done, and what failed.
import { signal } from '@preact/signals';
import { ApiError } from '../api/client';
import { who } from '../session';

/** What one may still do about a message while it is shown. */
export interface ToastAction {
  label: string;
  /** A letter that does it too. */
  key: string;
  run: () => void;
  /** Called when the message is gone, whether it was used or not. */
  gone: () => void;
}

interface Toast {
  id: number;
  tone: 'good' | 'bad';
  text: string;
  action?: ToastAction;
}

const shown = signal<Toast[]>([]);
let last = 0;

// Long enough to read a sentence. Failures stay until they are closed.
const stay = 6_000;
/** Long enough to notice a mistake and to reach the button. */
const stayWithAction = 10_000;
/** More would cover the rows. */
const most = 4;

const timers = new Map<number, ReturnType<typeof setTimeout>>();

function add(tone: Toast['tone'], text: string, action?: ToastAction): void {
  const id = ++last;
  shown.value.slice(0, Math.max(0, shown.value.length - most + 1)).forEach((t) => drop(t.id));
  shown.value = [...shown.value, { id, tone, text, action }];
  begin(id);
}

function begin(id: number): void {
  const of = shown.peek().find((t) => t.id === id);
  if (of?.tone === 'good') timers.set(id, setTimeout(() => drop(id), of.action ? stayWithAction : stay));
}

/** Nobody reaches a button that goes away meanwhile: the time begins anew when pointer and focus have left. */
function pause(id: number): void {
  clearTimeout(timers.get(id));
}

function resume(event: Event, id: number): void {
  const box = event.currentTarget as Element;
  const to = (event as FocusEvent | MouseEvent).relatedTarget;
  if (to instanceof Node && box.contains(to)) return;
  pause(id);
  if (!box.matches(':hover') && !box.contains(document.activeElement)) begin(id);
}

function drop(id: number): void {
  pause(id);
  timers.delete(id);
  const of = shown.peek().find((t) => t.id === id);
  shown.value = shown.peek().filter((t) => t.id !== id);
  of?.action?.gone();
}

// What was done, and could be undone, is not for the next person.
who.subscribe((now) => { if (!now) shown.peek().forEach((t) => drop(t.id)); });

function use(of: Toast): void {
  drop(of.id);
  of.action?.run();
}

/** Does what the latest message offers; false when none offers anything. */
export function doLatest(): boolean {
  const of = shown.peek().findLast((t) => t.action);
  if (of) use(of);
  return of !== undefined;
}

export const toast = {
  good: (text: string, action?: ToastAction) => add('good', text, action),
  bad: (text: string) => add('bad', text),
  /** Shows an error. It shows nothing for an aborted call, nor for a 401, which leads to the sign-in. */
  failed: (error: unknown) => {
    const text = wordsOf(error);
    if (text) add('bad', text);
  },
};

/** The text of an error for a person; '' when a person need not know it. */
export function wordsOf(error: unknown): string {
  if (error instanceof DOMException && error.name === 'AbortError') return '';
  if (error instanceof ApiError) {
    if (error.status === 401) return '';
    if (error.scope) return `Your key does not hold the scope ${error.scope}. Ask the person who manages the keys for a key with this scope.`;
    const again = error.retryAfter ? ` Try again in ${error.retryAfter} s.` : '';
    const cause = error.debug ? ` (${error.debug})` : '';
    const id = error.status >= 500 && error.requestId ? ` Request ${error.requestId}.` : '';
    return error.message + again + cause + id;
  }
  return error instanceof Error ? error.message : String(error);
}

/** Used once, at the end of the page. */
export function Toasts() {
  return (
    <div class="toasts" role="region" aria-label="Messages">
      <div role="status" aria-live="polite">
        {shown.value.map((t) => (
          <div
            key={t.id} class={`toast ${t.tone}`} onMouseEnter={() => pause(t.id)} onMouseLeave={(e) => resume(e, t.id)}
            onFocusIn={() => pause(t.id)} onFocusOut={(e) => resume(e, t.id)}
          >
            <span>{t.text}</span>
            {t.action ? <button type="button" class="btn small" title={`${t.action.label} (${t.action.key})`} onClick={() => use(t)}>{t.action.label}</button> : null}
            <button type="button" class="btn quiet icon" aria-label="Close message" onClick={() => drop(t.id)}>×</button>
          </div>
        ))}
      </div>
    </div>
  );
}
