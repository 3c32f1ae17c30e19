// A menu below a button: a <details> that closes on Escape and on a click
// outside.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface MenuProps {
  label: ComponentChildren;
  /** For a label that is not text. */
  name?: string;
  children: ComponentChildren;
  /** The edge of the button to which the box is aligned. */
  align?: 'start' | 'end';
  kind?: string;
  /** A value is set in it. */
  on?: boolean;
  class?: string;
  /** Called each time it is opened. */
  onOpen?: () => void;
}

export function Menu({ label, name, children, align = 'start', kind = '', on, class: more = '', onOpen }: MenuProps) {
  const box = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const menu = box.current!;
    const outside = (event: Event) => {
      if (menu.open && !menu.contains(event.target as Node)) menu.open = false;
    };
    const escape = (event: KeyboardEvent) => {
      if (!menu.open || event.key !== 'Escape') return;
      event.stopPropagation();
      event.preventDefault();
      menu.open = false;
      menu.querySelector('summary')?.focus();
    };
    addEventListener('pointerdown', outside);
    addEventListener('focusin', outside);
    menu.addEventListener('keydown', escape);
    return () => {
      removeEventListener('pointerdown', outside);
      removeEventListener('focusin', outside);
      menu.removeEventListener('keydown', escape);
    };
  }, []);
  return (
    <details class={`menu ${align} ${more}`} ref={box} onToggle={(e) => { if (e.currentTarget.open) onOpen?.(); }}>
      <summary class={`btn ${kind}${on ? ' on' : ''}`} aria-label={name}>{label}</summary>
      <div class="menu-body">{children}</div>
    </details>
  );
}

/** Closes the menu of an element and gives the focus back to its button. */
export function closeMenu(element: Element): void {
  const menu = element.closest('details');
  if (!menu) return;
  menu.open = false;
  menu.querySelector('summary')?.focus();
}
