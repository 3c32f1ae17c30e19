import { useRef, useState } from 'preact/hooks';
import { ApiError } from '../../api/client';
import { paths, sendTestMail, type Localization } from '../../api/settings';
import { can } from '../../session';
import { Button } from '../../ui/button';
import { Select, TextField } from '../../ui/field';
import { Denied, Note, Panel } from '../../ui/state';
import { toast, wordsOf } from '../../ui/toast';
import { SettingForm } from './form';
import { setting } from './setting';

const localization = setting<Localization>({
  name: 'modules', path: paths.localization, reads: 'Settings/GetLocalization', writes: 'Settings/UpdateLocalization',
  labels: { ip_module: 'Location module' },
});

// The module that comes with the service.
const builtIn = { value: 'mmdb', label: 'Location database on this machine (mmdb)' };

export function ModulesTab() {
  return (
    <>
      <SettingForm of={localization} title="Localisation" lead="How the service finds the location of an address.">
        {(draft) => {
          const choices = [{ value: '', label: 'None' }, builtIn];
          if (!choices.some((c) => c.value === draft.ip_module)) choices.push({ value: draft.ip_module, label: draft.ip_module });
          return (
            <>
              <Select
                label="Location module" name="ip_module" value={draft.ip_module} choices={choices}
                error={localization.errors.value.ip_module} changed={localization.isChanged('ip_module')}
                hint={<>The database is installed on the machine with <code class="mono">errata geo install</code>.</>}
                onChange={(v) => localization.set('ip_module', v)}
              />
              {draft.ip_module === '' ? <Note>Without a module, location verification asks nobody for a code.</Note> : null}
            </>
          );
        }}
      </SettingForm>
      <TestMail />
    </>
  );
}

const scope = 'Settings/UpdateTwoFactor';

function TestMail() {
  const [to, setTo] = useState('');
  const [error, setError] = useState('');
  const [busy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const refuse = (words: string) => {
    setError(words);
    form.current?.querySelector('input')?.focus();
  };
  const send = async () => {
    const address = to.trim();
    if (!address) return refuse('Enter the address for the mail.');
    setBusy(true);
    setError('');
    try {
      await sendTestMail(address);
      toast.good(`The mail server has accepted a mail to ${address}. Check that it arrives.`);
    } catch (cause) {
      if (cause instanceof ApiError && cause.status < 500 && cause.status !== 429) refuse(wordsOf(cause));
      else toast.failed(cause);
    }
    setBusy(false);
  };
  return (
    <Panel title="Mail" class="narrow">
      {can(scope) ? (
        <form class="inline-form" ref={form} noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
          <TextField
            label="Send a test mail to" name="to" type="email" autocomplete="email" value={to} error={error} onInput={(v) => { setTo(v); setError(''); }}
            hint={<>The mail module is configured on the machine, with <code class="mono">mail-module</code> and <code class="mono">smtp-host</code>. The test mail is sent in the same way as sign-in codes.</>}
          />
          <Button type="submit" busy={busy}>Send</Button>
        </form>
      ) : <Denied scope={scope} what="Your key may not send a test mail" />}
    </Panel>
  );
}
