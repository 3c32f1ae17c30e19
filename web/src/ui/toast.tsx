// Short messages at the edge: what was really done, and what did not work.
import { signal } from '@preact/signals';
import { ApiError } from '../api/client';

interface Toast {
  id: number;
  tone: 'good' | 'bad';
  text: string;
}

const shown = signal<Toast[]>([]);
let last = 0;

// Long enough to read a sentence; failures stay until they are closed.
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
  /** The words of an error. An aborted call and a 401, which shows the sign-in, say nothing. */
  failed: (error: unknown) => {
    const text = wordsOf(error);
    if (text) add('bad', text);
  },
};

/** What to tell a person of an error; '' for what they need not know. */
export function wordsOf(error: unknown): string {
  if (error instanceof DOMException && error.name === 'AbortError') return '';
  if (error instanceof ApiError) {
    if (error.status === 401) return '';
    if (error.scope) return `Your key does not hold the scope ${error.scope}. Ask whoever manages the keys for one that does.`;
    const again = error.retryAfter ? ` Try again in ${error.retryAfter} s.` : '';
    const cause = error.debug ? ` (${error.debug})` : '';
    const id = error.status >= 500 && error.requestId ? ` Request ${error.requestId}.` : '';
    return error.message + again + cause + id;
  }
  return error instanceof Error ? error.message : String(error);
}

/** Stands once, at the end of the page. */
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
