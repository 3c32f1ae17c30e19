// What is open in the view, which the title of the page names.
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** '' for nothing. */
export const openTitle = signal('');

/** Names what a component shows, while it is mounted. */
export function useOpenTitle(text: string): void {
  useEffect(() => {
    openTitle.value = text;
    return () => { if (openTitle.peek() === text) openTitle.value = ''; };
  }, [text]);
}
