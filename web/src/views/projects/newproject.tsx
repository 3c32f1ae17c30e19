import { useState } from 'preact/hooks';
import { ApiError } from '../../api/client';
import { createProject, type Project } from '../../api/projects';
import { platforms } from '../../lib/projects';
import { refreshProjects } from '../../projects';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { TextField } from '../../ui/field';
import { Note } from '../../ui/state';
import { useSubmit } from '../../ui/submit';
import { made } from './made';

export function NewProjectDialog({ onClose, onMade }: { onClose: () => void; onMade: (project: Project) => void }) {
  const [name, setName] = useState('');
  const [platform, setPlatform] = useState('');
  const { form, errors, busy, refuse, send } = useSubmit();
  const submit = async () => {
    if (!name.trim()) return refuse('name', 'Enter a name for the project.');
    await send(async (once) => {
      made.value = await createProject({ name: name.trim(), platform: platform.trim() }, once);
      refreshProjects();
      onMade(made.value);
    }, fieldOf);
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
  const field = error instanceof ApiError ? error.field : '';
  return field === 'name' || field === 'platform' ? field : '';
}
