import { methods, paths, type Method, type TwoFactor } from '../../api/settings';
import { can } from '../../session';
import { Badge } from '../../ui/badge';
import { PageLink } from '../../ui/button';
import { confirm } from '../../ui/dialog';
import { Unsaved } from '../../ui/field';
import { useLoad } from '../../ui/load';
import { Failure, Note } from '../../ui/state';
import { Safe } from '../../ui/text';
import { Group, SettingForm, SettingSwitch } from './form';
import { setting } from './setting';

const twoStep = setting<TwoFactor>({
  name: 'two-step', path: paths.twoFactor, reads: 'Settings/GetTwoFactor', writes: 'Settings/UpdateTwoFactor',
  labels: { authentications: 'Methods', admin: 'Admins', client: 'Clients', show_popup: 'Reminder' },
  ask: (base, draft) => {
    const off = base.authentications.filter((key) => !draft.authentications.includes(key));
    if (off.length === 0) return Promise.resolve(true);
    return confirm({
      title: 'Turn methods off?',
      text: <p>Second steps that people have set up with <b>{off.join(', ')}</b> stop working at once.</p>,
      yes: 'Turn off', danger: true,
    });
  },
});

export function TwoStepTab() {
  return (
    <SettingForm of={twoStep} title="Two-step verification" lead="A second proof at sign-in, after the password.">
      {(draft) => {
        const none = draft.authentications.length === 0;
        return (
          <>
            <Methods draft={draft} />
            <Group title="Who is asked">
              {none && (draft.admin || draft.client)
                ? <Note tone="warn">Nobody is asked, although a switch is on: the switches take effect only while at least one method is on.</Note>
                : <p class="dim">The switches take effect only while at least one method is on.</p>}
              <SettingSwitch of={twoStep} path="admin" checked={draft.admin} label="Admins" hint={none && draft.admin ? 'On, without effect.' : undefined} />
              <SettingSwitch of={twoStep} path="client" checked={draft.client} label="Clients" hint={none && draft.client ? 'On, without effect.' : undefined} />
            </Group>
            <Group title="Reminder">
              <SettingSwitch of={twoStep} path="show_popup" checked={draft.show_popup} label="Remind at sign-in" hint="People without a second step are reminded to set one up." />
            </Group>
          </>
        );
      }}
    </SettingForm>
  );
}

function Methods({ draft }: { draft: TwoFactor }) {
  const may = can('Settings/GetTwoFactorMethods');
  const load = useLoad(async (signal) => (may ? methods(signal) : []));
  const toggle = (key: string, on: boolean) => {
    const stored = twoStep.base.value?.authentications ?? [];
    const next = new Set(draft.authentications);
    if (on) next.add(key);
    else next.delete(key);
    // Their order says nothing: as it is stored, so that what was turned back is no change.
    twoStep.set('authentications', [...stored.filter((k) => next.has(k)), ...[...next].filter((k) => !stored.includes(k))]);
  };
  // Keys that are on and not listed cannot be told from others without the list.
  const list: Method[] = may ? load.data ?? [] : draft.authentications.map((key) => ({ key, name: key, enabled: true, installed: true }));
  const changed = twoStep.isChanged('authentications');
  const error = twoStep.errors.value.authentications;
  return (
    <Group title="Methods">
      {load.error ? <Failure error={load.error} retry={load.reload} /> : null}
      {may ? null : <Note>Only methods that are on are listed: your key does not hold the scope <code class="mono">Settings/GetTwoFactorMethods</code>.</Note>}
      <ul class="methods">
        {list.map((m) => {
          const on = draft.authentications.includes(m.key);
          return (
            <li key={m.key}>
              <label class="check">
                <input type="checkbox" name={`method-${m.key}`} checked={on} disabled={!m.installed} aria-invalid={error ? 'true' : undefined} onChange={(e) => toggle(m.key, e.currentTarget.checked)} />
                <span><Safe text={m.name} /> <code class="mono dim">{m.key}</code></span>
              </label>
              <span class="row">
                {on !== (twoStep.base.value?.authentications.includes(m.key) ?? on) ? <Unsaved id={`method-${m.key}`} /> : null}
                <Badge tone={m.installed ? 'plain' : 'warn'}>{m.installed ? 'installed' : 'not installed'}</Badge>
                <Badge tone={on ? 'good' : 'plain'}>{on ? 'on' : 'off'}</Badge>
              </span>
            </li>
          );
        })}
      </ul>
      {may && load.data && !load.data.some((m) => m.key === 'email') ? <p class="hint dim">Codes by e-mail are offered when a mail module is configured; see <PageLink to={{ view: 'settings', tab: 'modules' }}>Modules</PageLink>.</p> : null}
      {error ? <div class="error bad" role="alert">{error}</div> : null}
      {changed && draft.authentications.length === 0 ? <Note tone="warn">Without a method nobody is asked for a second step.</Note> : null}
    </Group>
  );
}
