import type { RefObject } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { newOnce } from '../api/client';
import { wordsOf } from './toast';

interface Submit {
  form: RefObject<HTMLFormElement | null>;
  /** By field; '' for what is about none. */
  errors: Record<string, string>;
  busy: boolean;
  /** Shows what is wrong with a field, and gives it the focus. */
  refuse: (field: string, words: string) => void;
  /** Shows nothing wrong any more. */
  clear: () => void;
  /** Calls write, whose repeats have one effect. A refusal is shown at the field that fieldOf names. */
  send: (write: (once: string) => Promise<void>, fieldOf: (error: unknown) => string) => Promise<void>;
}

/** What forms that create or change something share. After a send that worked, the form stays busy: it goes away. */
export function useSubmit(): Submit {
  const form = useRef<HTMLFormElement>(null);
  const once = useRef(newOnce());
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [busy, setBusy] = useState(false);
  const refuse = (field: string, words: string) => {
    setErrors({ [field]: words });
    requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"], .group-error')?.focus());
  };
  const send: Submit['send'] = async (write, fieldOf) => {
    setBusy(true);
    setErrors({});
    try {
      await write(once.current);
    } catch (error) {
      // What was refused is asked again as something else.
      once.current = newOnce();
      setBusy(false);
      refuse(fieldOf(error), wordsOf(error));
    }
  };
  return { form, errors, busy, refuse, clear: () => setErrors({}), send };
}
