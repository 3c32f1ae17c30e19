// The form of a channel.
import { useState } from 'preact/hooks';
import { writeChannel, type Channel, type ChannelKind } from '../../api/alerts';
import { channelBody, channelDraft, hasSecret, kindChoices, kindWords, newChannel, urlHints, type ChannelDraft } from '../../lib/alerts';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { Select, TextArea, TextField } from '../../ui/field';
import { Note } from '../../ui/state';
import { useSubmit } from '../../ui/submit';
import { toast } from '../../ui/toast';
import { madeChannel } from './channels';
import { refusedField } from './refused';

interface ChannelDialogProps {
  /** "new" for a new one. */
  id: string;
  channels: readonly Channel[];
  onClose: () => void;
  onDone: () => void;
}

export function ChannelDialog({ id, channels, onClose, onDone }: ChannelDialogProps) {
  const of = channels.find((c) => c.id === id);
  const [draft, setDraft] = useState<ChannelDraft>(of ? channelDraft(of) : newChannel);
  const { form, errors, busy, send } = useSubmit();
  const set = (next: Partial<ChannelDraft>) => setDraft((d) => ({ ...d, ...next }));
  const submit = () => send(async (once) => {
    const channel = await writeChannel(of?.id ?? '', channelBody(draft), once);
    if (channel.secret) madeChannel.value = channel;
    toast.good(`“${channel.name}” is ${of ? 'saved' : 'made'}.`);
    onDone();
  }, refusedField);
  if (id !== 'new' && !of) return <Dialog title="Channel" onClose={onClose}><p>There is no such channel any more.</p></Dialog>;
  return (
    <Dialog title={of ? `Channel “${of.name}”` : 'New channel'} onClose={onClose}>
      <form class="stack" ref={form} noValidate onSubmit={(e) => { e.preventDefault(); void submit(); }}>
        <Whole errors={errors} />
        {of ? null : <Select label="Kind" name="kind" value={draft.kind} choices={kindChoices} error={errors.kind} onChange={(kind) => set({ kind: kind as ChannelKind })} />}
        <TextField label="Name" name="name" value={draft.name} error={errors.name} placeholder={kindWords[draft.kind]} autocomplete="off" hint="For people, such as On call." onInput={(name) => set({ name })} />
        <Where draft={draft} errors={errors} known={!!of} set={set} />
        <footer class="dialog-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="main" busy={busy}>{of ? 'Save' : 'Make the channel'}</Button>
        </footer>
      </form>
    </Dialog>
  );
}

/** A refusal that is about no field that is shown. */
function Whole({ errors }: { errors: Record<string, string> }) {
  const shown = ['kind', 'name', 'url', 'secret', 'chat', 'addresses'];
  const words = Object.entries(errors).find(([field]) => !shown.includes(field))?.[1];
  return words ? <Note tone="bad">{words}</Note> : null;
}

const secretHints: Partial<Record<ChannelKind, string>> = {
  webhook: 'Leave it empty: a new one is made and shown once. Or whsec_ and the Base64 of 24 to 64 bytes.',
  telegram: 'The token of the bot, such as 123456:….',
  ntfy: 'An access token, if the server wants one.',
};

/** The fields of the kind. */
function Where({ draft, errors, known, set }: { draft: ChannelDraft; errors: Record<string, string>; known: boolean; set: (next: Partial<ChannelDraft>) => void }) {
  const { kind } = draft;
  if (kind === 'email') {
    return <TextArea label="Addresses" name="addresses" rows={3} value={draft.addresses} error={errors.addresses} hint="One on each line, at most 20. Each gets a mail of its own." onInput={(addresses) => set({ addresses })} />;
  }
  return (
    <>
      {kind === 'telegram'
        ? <TextField label="Chat" name="chat" value={draft.chat} error={errors.chat} autocomplete="off" hint="Its number, or @name of a channel." onInput={(chat) => set({ chat })} />
        : <TextField label="URL" name="url" value={draft.url} error={errors.url} autocomplete="off" placeholder="https://" hint={urlHints[kind]} onInput={(url) => set({ url })} />}
      {hasSecret(kind) ? (
        <TextField
          label={kind === 'webhook' ? 'Secret' : 'Token'} name="secret" value={draft.secret} error={errors.secret} autocomplete="off" mono
          hint={known ? 'Leave it empty to keep the present one.' : secretHints[kind]} onInput={(secret) => set({ secret })}
        />
      ) : null}
    </>
  );
}
