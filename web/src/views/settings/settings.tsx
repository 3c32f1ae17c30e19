import type { ComponentChildren } from 'preact';
import { tab } from '../../router';
import { PageLink } from '../../ui/button';
import { AlertsTab } from '../alerts/alerts';
import { AddressesTab } from './addresses';
import { AuditTab } from './audit';
import { CleanupTab } from './cleanup';
import { ImportTab } from './import';
import { KeysTab } from './keys';
import { LettersTab } from './letters';
import { LocationTab } from './location';
import { LoggingTab } from './logging';
import { ModulesTab } from './modules';
import { ReplayTab } from './replay';
import { unsaved } from './setting';
import { TwoStepTab } from './twostep';

interface Tab {
  name: string;
  label: string;
  content: () => ComponentChildren;
}

// Each has a file beside this one; alerts have a folder.
const groups: readonly { label: string; tabs: readonly Tab[] }[] = [
  {
    label: 'Records',
    tabs: [
      { name: 'logging', label: 'Logging', content: () => <LoggingTab /> },
      { name: 'cleanup', label: 'Cleanup', content: () => <CleanupTab /> },
      { name: 'import', label: 'Import', content: () => <ImportTab /> },
      { name: 'replay', label: 'Replay', content: () => <ReplayTab /> },
      { name: 'dead', label: 'Dead letters', content: () => <LettersTab /> },
    ],
  },
  {
    label: 'Who is told',
    tabs: [
      { name: 'alerts', label: 'Alerts', content: () => <AlertsTab /> },
    ],
  },
  {
    label: 'Sign-ins of your users',
    tabs: [
      { name: 'two-step', label: 'Two-step', content: () => <TwoStepTab /> },
      { name: 'location', label: 'Location', content: () => <LocationTab /> },
      { name: 'addresses', label: 'Addresses', content: () => <AddressesTab /> },
      { name: 'modules', label: 'Modules', content: () => <ModulesTab /> },
    ],
  },
  {
    label: 'Access',
    tabs: [
      { name: 'keys', label: 'Keys', content: () => <KeysTab /> },
      { name: 'audit', label: 'Audit trail', content: () => <AuditTab /> },
    ],
  },
];

export function SettingsView() {
  const tabs = groups.flatMap((g) => g.tabs);
  const shown = tabs.find((t) => t.name === tab.value) ?? tabs[0]!;
  const dirty = unsaved.value;
  return (
    <div class="page settings">
      <h1 class="offscreen">Settings</h1>
      <div class="settings-grid">
        <nav aria-label="Settings" class="tabs">
          {groups.map((g) => (
            <div key={g.label} class="tab-group">
              <span class="tab-group-label" aria-hidden="true">{g.label}</span>
              {g.tabs.map((t) => (
                <PageLink key={t.name} to={{ view: 'settings', tab: t.name }} current={t === shown}>
                  {t.label}{dirty.includes(t.name) ? <span class="tab-dirty" title="Not saved"><span class="offscreen">, not saved</span></span> : null}
                </PageLink>
              ))}
            </div>
          ))}
        </nav>
        <div class="settings-content" key={shown.name}>{shown.content()}</div>
      </div>
    </div>
  );
}
