// Dialogs on the browser's own <dialog>: it keeps the focus inside, gives it
// back, closes on Escape and hides the rest from screen readers.
import type { ComponentChildren } from 'preact';
import { signal } from '@preact/signals';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { agrees } from '../lib/typed';
import { Button } from './button';
import { TextField } from './field';

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** Buttons, the main one last. */
  actions?: ComponentChildren;
  wide?: boolean;
}

export function Dialog({ title, onClose, children, actions, wide }: DialogProps) {
  const box = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = box.current!;
    const before = document.activeElement;
    dialog.showModal();
    const first = dialog.querySelector<HTMLElement>('[data-focus], .dialog-text input, .dialog-text textarea, .dialog-text select');
    (first ?? dialog.querySelector<HTMLElement>('h2'))?.focus();
    return () => {
      dialog.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={box}
      class={`dialog${wide ? ' wide' : ''}`}
      aria-labelledby={id}
      onCancel={(e) => { e.preventDefault(); onClose(); }}
      onClick={(e) => { if (e.target === box.current) onClose(); }}
    >
      <div class="dialog-body">
        <div class="dialog-head">
          <h2 id={id} tabIndex={-1}>{title}</h2>
          <button type="button" class="btn quiet icon" aria-label="Close" onClick={onClose}>×</button>
        </div>
        <div class="dialog-text">{children}</div>
        {actions ? <div class="dialog-actions">{actions}</div> : null}
      </div>
    </dialog>
  );
}

export interface Question {
  title: string;
  /** What will happen, with the numbers. */
  text: ComponentChildren;
  /** The verb on the button. */
  yes: string;
  danger?: boolean;
  /** A word that must be typed first when the action cannot be undone. */
  typed?: string;
}

const asked = signal<(Question & { answer: (yes: boolean) => void }) | null>(null);

/** Asks, and returns whether the person agreed. */
export function confirm(question: Question): Promise<boolean> {
  asked.value?.answer(false);
  return new Promise((resolve) => {
    asked.value = {
      ...question,
      answer: (yes) => {
        asked.value = null;
        resolve(yes);
      },
    };
  });
}

/** Whether a dialog is open; keyboard shortcuts are then off. */
export function dialogOpen(): boolean {
  return document.querySelector('dialog[open]') !== null;
}

/** Used once, at the end of the page. */
export function Confirms() {
  const question = asked.value;
  return question ? <Confirm key={question.title} {...question} /> : null;
}

function Confirm({ title, text, yes, danger, typed, answer }: Question & { answer: (yes: boolean) => void }) {
  const [word, setWord] = useState('');
  const ready = !typed || agrees(word, typed);
  return (
    <Dialog title={title} onClose={() => answer(false)}>
      <form onSubmit={(e) => { e.preventDefault(); if (ready) answer(true); }}>
        <div class="stack">
          <div>{text}</div>
          {typed ? <TextField label={`Type “${typed}” to continue`} value={word} onInput={setWord} autocomplete="off" /> : null}
        </div>
        <div class="dialog-actions">
          <Button data-focus={danger && !typed ? '' : undefined} onClick={() => answer(false)}>Cancel</Button>
          <Button type="submit" data-focus={danger || typed ? undefined : ''} kind={danger ? 'danger' : 'main'} disabled={!ready}>{yes}</Button>
        </div>
      </form>
    </Dialog>
  );
}
