import { methods, paths, read, type Localization, type LocationSetting, type Method } from '../../api/settings';
import { can } from '../../session';
import { Select } from '../../ui/field';
import { PageLink } from '../../ui/button';
import { useLoad } from '../../ui/load';
import { Note } from '../../ui/state';
import { Group, SettingForm, SettingSwitch } from './form';
import { setting } from './setting';

const location = setting<LocationSetting>({
  name: 'location', path: paths.location, reads: 'Settings/GetLocationVerification', writes: 'Settings/UpdateLocationVerification',
  labels: {
    'admin.status': 'Admins', 'admin.method': 'Method of admins', 'admin.type': 'Comparison of admins',
    'client.status': 'Clients', 'client.method': 'Method of clients', 'client.type': 'Comparison of clients',
  },
});

const types = [
  { value: 'country', label: 'Country' },
  { value: 'region', label: 'Region' },
  { value: 'city', label: 'City' },
];

export function LocationTab() {
  const mayModules = can('Settings/GetLocalization');
  const module = useLoad(async (signal) => (mayModules ? (await read<Localization>(paths.localization, signal)).ip_module : undefined));
  const mayMethods = can('Settings/GetTwoFactorMethods');
  const installed = useLoad(async (signal) => (mayMethods ? methods(signal) : undefined));
  return (
    <SettingForm of={location} title="Location verification" lead="A sign-in from a place that is new for the account needs a code.">
      {(draft) => (
        <>
          {module.data === '' && (draft.admin.status || draft.client.status) && location.warnings.value.length === 0
            ? <Note tone="warn">No location module is chosen, so nobody is asked. Choose one under <PageLink to={{ view: 'settings', tab: 'modules' }}>Modules</PageLink>.</Note> : null}
          <Side side="admin" title="Admins" draft={draft} installed={installed.data} />
          <Side side="client" title="Clients" draft={draft} installed={installed.data} />
        </>
      )}
    </SettingForm>
  );
}

function Side({ side, title, draft, installed }: { side: 'admin' | 'client'; title: string; draft: LocationSetting; installed: Method[] | undefined }) {
  const of = draft[side];
  return (
    <Group title={title}>
      <SettingSwitch of={location} path={`${side}.status`} checked={of.status} label="Check the location" />
      <div class="two">
        <Select
          label="Send the code by" name={`${side}.method`} value={of.method} choices={ways(of.method, installed)}
          error={location.errors.value[`${side}.method`]} changed={location.isChanged(`${side}.method`)}
          hint={installed && !installed.some((m) => m.key === 'email') ? 'No mail module is configured, so e-mail would be refused.' : undefined}
          onChange={(v) => location.set(`${side}.method`, v)}
        />
        <Select
          label="Compare by" name={`${side}.type`} value={of.type} choices={types} error={location.errors.value[`${side}.type`]}
          changed={location.isChanged(`${side}.type`)} hint="Region and city need a location module that knows them."
          onChange={(v) => location.set(`${side}.type`, v)}
        />
      </div>
    </Group>
  );
}

/** Ways to send a code: e-mail, what else is installed, and what is set. */
function ways(now: string, installed: Method[] | undefined) {
  // A code generator sends nothing.
  const others = (installed ?? []).filter((m) => m.key !== 'totp' && m.key !== 'email').map((m) => ({ value: m.key, label: m.name }));
  const all = [{ value: 'Email', label: 'E-mail' }, ...others];
  return all.some((c) => c.value === now) ? all : [...all, { value: now, label: now }];
}
