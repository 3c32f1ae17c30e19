import { useRef, useState } from 'preact/hooks';
import { ApiError, newOnce } from '../../api/client';
import { createProject, type Project } from '../../api/projects';
import { platforms } from '../../lib/projects';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { TextField } from '../../ui/field';
import { Note } from '../../ui/state';
import { wordsOf } from '../../ui/toast';
import { made } from './made';

export function NewProjectDialog({ onClose, onMade }: { onClose: () => void; onMade: (project: Project) => void }) {
  const [name, setName] = useState('');
  const [platform, setPlatform] = useState('');
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [busy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const once = useRef(newOnce());
  const refuse = (field: string, words: string) => {
    setErrors({ [field]: words });
    requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
  };
  const submit = async () => {
    if (!name.trim()) return refuse('name', 'Enter a name for the project.');
    setBusy(true);
    setErrors({});
    try {
      made.value = await createProject({ name: name.trim(), platform: platform.trim() }, once.current);
      onMade(made.value);
    } catch (error) {
      // What was refused is asked again as something else.
      once.current = newOnce();
      setBusy(false);
      refuse(fieldOf(error), wordsOf(error));
    }
  };
  return (
    <Dialog title="Create a project" onClose={onClose}>
      <form class="stack" ref={form} noValidate onSubmit={(e) => { e.preventDefault(); void submit(); }}>
        <p>A project is one application. It gets a DSN and an ingest key of its own.</p>
        {errors[''] ? <Note tone="bad">{errors['']}</Note> : null}
        <TextField label="Name" name="name" value={name} error={errors.name} autofocus autocomplete="off" hint="For people, such as Web shop." onInput={setName} />
        <TextField
          label="Platform" name="platform" value={platform} error={errors.platform} offers={platforms} autocomplete="off"
          hint="What the application is made with, such as go or python-django. It chooses the code that is shown next; leave it empty if you do not know." onInput={setPlatform}
        />
        <footer class="dialog-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="main" busy={busy}>Create</Button>
        </footer>
      </form>
    </Dialog>
  );
}

/** The field of the form that a refusal is about; '' for none. */
function fieldOf(error: unknown): string {
  const field = error instanceof ApiError ? (error.details as { field?: unknown } | undefined)?.field : undefined;
  return field === 'name' || field === 'platform' ? field : '';
}
