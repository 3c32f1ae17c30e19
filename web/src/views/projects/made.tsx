// A project that was just created, with the only sight of its key.
import { signal } from '@preact/signals';
import type { Project } from '../../api/projects';
import { who } from '../../session';
import { Button, PageLink } from '../../ui/button';
import { Secret } from '../../ui/secret';
import { Snippets } from '../../ui/snippets';
import { Note } from '../../ui/state';
import { Safe } from '../../ui/text';

/** The project that was made last. Its key is shown once, so it outlives the view. */
export const made = signal<Project | null>(null);

// It is for whoever made it.
who.subscribe((now) => { if (!now) made.value = null; });

export function MadeProject({ of }: { of: Project }) {
  return (
    <section class="made" aria-label="The new project">
      <Note tone="good">
        <b>The project “<Safe text={of.name} />” is created.</b> Copy the ingest key now if you need it: its text is shown only here and only once.
      </Note>
      <Secret label="DSN" text={of.dsn} />
      <Secret label="Ingest key" text={of.key ?? ''} />
      <p class="dim">A Sentry SDK needs the DSN alone; everything else sends the ingest key.</p>
      <Snippets dsn={of.dsn} ingestKey={of.key} platform={of.platform} />
      <div class="row">
        <Button onClick={() => { made.value = null; }}>I have copied it</Button>
        <PageLink to={{ view: 'projects', id: of.id }}>Settings of the project</PageLink>
      </div>
    </section>
  );
}
