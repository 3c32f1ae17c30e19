import { useEffect, useState } from 'preact/hooks';
import { begin, mayRetry, reason, signIn } from '../session';
import { ApiError } from '../api/client';
import { titleOf } from '../lib/title';
import { Button } from '../ui/button';
import { TextField, Tick } from '../ui/field';
import { Note } from '../ui/state';
import { wordsOf } from '../ui/toast';

export function SignIn() {
  const [key, setKey] = useState('');
  const [error, setError] = useState('');
  const [remember, setRemember] = useState(false);
  const [busy, setBusy] = useState(false);
  useEffect(() => { document.title = titleOf('Sign in'); }, []);
  const submit = async (event: Event) => {
    event.preventDefault();
    const text = key.trim();
    if (!text) {
      setError('Paste an admin key.');
      return;
    }
    setBusy(true);
    setError('');
    try {
      await signIn(text, remember);
    } catch (cause) {
      setError(words(cause));
      setBusy(false);
    }
  };
  return (
    <main class="signin">
      <form class="signin-box" onSubmit={(e) => void submit(e)}>
        <h1 class="brand"><Mark /> Errata</h1>
        {reason.value ? <Note tone="warn">{reason.value}</Note> : null}
        {mayRetry.value ? <Button onClick={() => void begin()}>Try again with the same key</Button> : null}
        <TextField
          label="Admin key" type="password" name="password" autocomplete="current-password" mono autofocus
          value={key} onInput={setKey} error={error}
          hint={<>The first start wrote an admin key to <code class="mono">data/keys/admin.key</code>. This tab keeps the key until you close the tab.</>}
        />
        <Tick
          label="Remember on this device" checked={remember} onChange={setRemember}
          hint="Stores the key in this browser’s localStorage until you sign out; do not tick this on a shared computer."
        />
        <Button type="submit" kind="main" busy={busy}>Sign in</Button>
      </form>
    </main>
  );
}

function words(cause: unknown): string {
  if (cause instanceof ApiError && cause.status === 401) return 'This key does not work. It may be mistyped, revoked or expired.';
  return wordsOf(cause) || 'That did not work. Try again.';
}

export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 16 16" aria-hidden="true">
      <rect width="16" height="16" rx="3" />
      <path d="M11.5 3.5h-7v9h7M4.5 8h5.5" />
    </svg>
  );
}
