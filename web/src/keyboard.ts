// One listener for the keys of the whole page; views handle the actions.
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { idle, press, type Action, type KeyState } from './lib/keys';
import { dialogOpen } from './ui/dialog';

const place = 'errata.keys';

/** Whether letters are shortcuts; speech input and typing errors can trigger them. */
export const shortcuts = signal(localStorage.getItem(place) !== 'off');

export function setShortcuts(on: boolean): void {
  shortcuts.value = on;
  if (on) localStorage.removeItem(place);
  else localStorage.setItem(place, 'off');
}

/** Returns whether it has handled the action. */
type Handler = (action: Action) => boolean;

const handlers: Handler[] = [];
let state: KeyState = idle;

addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.isComposing || dialogOpen()) return;
  const target = event.target instanceof Element ? event.target : null;
  const next = press(state, {
    key: event.key,
    modified: event.ctrlKey || event.metaKey || event.altKey,
    typing: target?.matches('input:not([type=checkbox]), textarea, select, [contenteditable]') ?? false,
    control: target?.closest('a, button, summary, input, label') !== null && target !== null,
    inList: target?.closest('.list') !== null && target !== null,
  });
  state = next.state;
  if (!next.action || (!shortcuts.value && next.action !== 'close')) return;
  // The latest first, because it is on top.
  for (const handle of [...handlers].reverse()) {
    if (handle(next.action)) {
      event.preventDefault();
      return;
    }
  }
});

/** Handles actions while the component is mounted. */
export function useKeys(handle: Handler): void {
  const latest = useRef(handle);
  latest.current = handle;
  useEffect(() => {
    const call: Handler = (action) => latest.current(action);
    handlers.push(call);
    return () => {
      handlers.splice(handlers.indexOf(call), 1);
    };
  }, []);
}
