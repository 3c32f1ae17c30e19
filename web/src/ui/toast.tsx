// Short messages at the edge of the page: what was done, and what failed.
import { signal } from '@preact/signals';
import { ApiError } from '../api/client';

interface Toast {
  id: number;
  tone: 'good' | 'bad';
  text: string;
}

const shown = signal<Toast[]>([]);
let last = 0;

// Long enough to read a sentence. Failures stay until they are closed.
const stay = 6_000;

function add(tone: Toast['tone'], text: string): void {
  const id = ++last;
  shown.value = [...shown.value.slice(-3), { id, tone, text }];
  if (tone === 'good') setTimeout(() => drop(id), stay);
}

function drop(id: number): void {
  shown.value = shown.value.filter((t) => t.id !== id);
}

export const toast = {
  good: (text: string) => add('good', text),
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
          <div key={t.id} class={`toast ${t.tone}`}>
            <span>{t.text}</span>
            <button type="button" class="btn quiet icon" aria-label="Close message" onClick={() => drop(t.id)}>×</button>
          </div>
        ))}
      </div>
    </div>
  );
}
