import { paths, write, type LogSettings } from '../../api/settings';
import { badLines, entries, lineOf } from '../../lib/whitelist';
import { refreshProjects } from '../../projects';
import { Lines } from '../../ui/lines';
import { Note } from '../../ui/state';
import { Group, SettingForm, SettingSwitch } from './form';
import { setting } from './setting';
import { badWords } from './words';
import { computed, signal } from '@preact/signals';

/** The addresses as they are typed: blank and unfinished lines do not count. */
const typed = signal<string | null>(null);

const logging = setting<LogSettings>({
  name: 'logging', path: paths.logging, reads: 'Tools/GetLogSettings', writes: 'Tools/UpdateLogSettings',
  labels: {
    error_log: 'Record errors', error_debug: 'Show causes', development: 'Development mode', module_log: 'Record module exchanges',
    query_logging: 'Record database queries', query_logging_ips: 'Addresses',
  },
  write: async (path, body) => {
    const answer = await write<LogSettings>(path, body);
    refreshProjects();
    return answer;
  },
  body: (changes) => Object.fromEntries(Object.entries(changes).map(([name, v]) => [name, typeof v === 'boolean' ? Number(v) : v])),
});

/** The text of the list, as long as it matches the draft. */
const listText = computed(() => {
  const ips = logging.draft.value?.query_logging_ips ?? [];
  const text = typed.value;
  return text !== null && JSON.stringify(entries(text)) === JSON.stringify(ips) ? text : ips.join('\n');
});

export function LoggingTab() {
  const error = logging.errors.value.query_logging_ips;
  const index = logging.details.value.index;
  const text = listText.value;
  const named = error && typeof index === 'number' ? lineOf(text, index) : 0;
  const bad = badLines(text);
  return (
    <SettingForm of={logging} title="Logging" lead="Which data from applications the service keeps.">
      {(draft) => (
        <>
          <Group title="Errors">
            <SettingSwitch
              of={logging} path="error_log" checked={draft.error_log} label="Record errors"
              hint="While this is off, events are accepted and dropped; their senders are told, and the overview counts them."
            />
            {draft.error_log ? null : <Note tone="warn">Errors are not recorded while this is off. They cannot be recovered later.</Note>}
          </Group>
          <Group title="Exchanges">
            <SettingSwitch of={logging} path="module_log" checked={draft.module_log} label="Record module exchanges" hint="What modules send and receive. The data grows fast." />
            <SettingSwitch
              of={logging} path="query_logging" checked={draft.query_logging} label="Record database queries"
              hint="The data grows very fast, so limit it to a few addresses."
            />
            <Lines
              label="Addresses" name="query_logging_ips" value={text} rows={4} bad={named ? [...new Set([named, ...bad])] : bad} named={named}
              error={error?.replace(/^[a-z_.]+: /, '')} changed={logging.isChanged('query_logging_ips')}
              hint={<>Queries are recorded only for these addresses and prefixes, such as 203.0.113.9 or 10.0.0.0/8. Write one on each line. Empty means all addresses.{error ? null : badWords(bad)}</>}
              onInput={(value) => { typed.value = value; logging.set('query_logging_ips', entries(value)); }}
            />
            {draft.query_logging && draft.query_logging_ips.length === 0 ? <Note tone="warn">Every query of every application is recorded. Limit this to the addresses that you need.</Note> : null}
          </Group>
          <Group title="For developers">
            <SettingSwitch
              of={logging} path="error_debug" checked={draft.error_debug} label="Show causes"
              hint="While this is on, answers of this API with a status of 500 or more show their cause to admin keys. A cause can reveal internals, so keep this off in production."
            />
            <SettingSwitch of={logging} path="development" checked={draft.development} label="Development mode" hint="Applications that send errors are told that it is on." />
          </Group>
        </>
      )}
    </SettingForm>
  );
}
