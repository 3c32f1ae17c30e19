import { paths, type AddressSetting } from '../../api/settings';
import { added, badLines, covers, entries } from '../../lib/whitelist';
import { plural } from '../../lib/text';
import { who } from '../../session';
import { Button } from '../../ui/button';
import { Lines } from '../../ui/lines';
import { Note } from '../../ui/state';
import { Group, SettingForm, SettingSwitch } from './form';
import { setting } from './setting';
import { badWords } from './words';

const addresses = setting<AddressSetting>({
  name: 'addresses', path: paths.addresses, reads: 'Settings/GetIpVerification', writes: 'Settings/UpdateIpVerification',
  labels: {
    'admin.status': 'Admins', 'admin.whitelist': 'Exempt addresses of admins',
    'client.status': 'Clients', 'client.whitelist': 'Exempt addresses of clients',
  },
  show: (path, value) => (path.endsWith('whitelist') ? plural(entries(String(value)).length, 'entry', 'entries') : value ? 'on' : 'off'),
});

export function AddressesTab() {
  return (
    <SettingForm of={addresses} title="Address verification" lead="A sign-in from an address that is new for the account needs a code, unless the address is exempt.">
      {(draft) => (
        <>
          <Side side="admin" title="Admins" draft={draft} />
          <Side side="client" title="Clients" draft={draft} />
        </>
      )}
    </SettingForm>
  );
}

function Side({ side, title, draft }: { side: 'admin' | 'client'; title: string; draft: AddressSetting }) {
  const { status, whitelist } = draft[side];
  const path = `${side}.whitelist`;
  const error = addresses.errors.value[path];
  const line = addresses.details.value.line;
  const named = error && typeof line === 'number' ? line : 0;
  const bad = badLines(whitelist);
  const count = entries(whitelist).length;
  return (
    <Group title={title}>
      <SettingSwitch of={addresses} path={`${side}.status`} checked={status} label="Check the address" />
      {side === 'admin' && status ? <OwnAddress list={whitelist} /> : null}
      <Lines
        label="Exempt addresses" name={path} value={whitelist} rows={6} bad={named ? [...new Set([named, ...bad])] : bad} named={named}
        error={error?.replace(/^[a-z_.]+: /, '')} changed={addresses.isChanged(path)}
        hint={<>Addresses and prefixes, such as 203.0.113.9 or 2001:db8::/32. Write one on each line. {count === 0 ? 'Empty: nobody is exempt.' : `${plural(count, 'entry', 'entries')}.`}{error ? null : badWords(bad)}</>}
        onInput={(value) => addresses.set(path, value)}
      />
    </Group>
  );
}

/** Warns callers who would be asked at each of their sign-ins. */
function OwnAddress({ list }: { list: string }) {
  const mine = who.value?.address ?? '';
  if (!mine || covers(list, mine)) return mine ? <p class="dim">Your address <code class="mono">{mine}</code> is exempt.</p> : null;
  return (
    <Note tone="warn">
      <p>Your own address <code class="mono">{mine}</code> is not exempt. If it changes, each of your sign-ins from a new address needs a code.</p>
      <div class="row"><Button onClick={() => addresses.set('admin.whitelist', added(list, mine))}>Add {mine}</Button></div>
    </Note>
  );
}
