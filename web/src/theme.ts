import { effect, signal } from '@preact/signals';

export type Theme = 'auto' | 'light' | 'dark';

const place = 'errata.theme';

/** The theme that the viewer chose; auto follows the system. */
export const theme = signal<Theme>(stored());

function stored(): Theme {
  const text = localStorage.getItem(place);
  return text === 'light' || text === 'dark' ? text : 'auto';
}

/** Applies the theme to the document. */
export function followTheme(): void {
  effect(() => {
    const chosen = theme.value;
    if (chosen === 'auto') {
      delete document.documentElement.dataset.theme;
      localStorage.removeItem(place);
    } else {
      document.documentElement.dataset.theme = chosen;
      localStorage.setItem(place, chosen);
    }
  });
}
