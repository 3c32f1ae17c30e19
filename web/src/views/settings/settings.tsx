import type { ComponentChildren } from 'preact';
import { tab } from '../../router';
import { PageLink } from '../../ui/button';
import { Loading } from '../../ui/state';

interface Tab {
  name: string;
  label: string;
  content: () => ComponentChildren;
}

// One file for each beside this one.
const tabs: readonly Tab[] = [
  { name: 'logging', label: 'Logging', content: () => <Loading /> },
  { name: 'two-step', label: 'Two-step', content: () => <Loading /> },
  { name: 'location', label: 'Location', content: () => <Loading /> },
  { name: 'addresses', label: 'Addresses', content: () => <Loading /> },
  { name: 'modules', label: 'Modules', content: () => <Loading /> },
  { name: 'keys', label: 'Keys', content: () => <Loading /> },
  { name: 'audit', label: 'Audit trail', content: () => <Loading /> },
  { name: 'cleanup', label: 'Cleanup', content: () => <Loading /> },
  { name: 'import', label: 'Import', content: () => <Loading /> },
];

export function SettingsView() {
  const shown = tabs.find((t) => t.name === tab.value) ?? tabs[0]!;
  return (
    <div class="page settings">
      <h1>Settings</h1>
      <div class="settings-grid">
        <nav aria-label="Settings" class="tabs">
          {tabs.map((t) => (
            <PageLink key={t.name} to={{ view: 'settings', tab: t.name }} current={t === shown}>{t.label}</PageLink>
          ))}
        </nav>
        <div class="settings-content" key={shown.name}>{shown.content()}</div>
      </div>
    </div>
  );
}
