// All scopes, in words.
import type { Key } from '../api/types';

export interface Scope {
  name: string;
  /** What a key with this scope may do. */
  means: string;
}

export interface ScopeGroup {
  group: string;
  label: string;
  scopes: readonly Scope[];
}

export const scopeGroups: readonly ScopeGroup[] = [
  {
    group: 'Tools', label: 'Errors',
    scopes: [
      { name: 'Tools/GetErrorLogs', means: 'list errors, see trends and the overview' },
      { name: 'Tools/GetErrorLog', means: 'open one error with its stack and payload' },
      { name: 'Tools/UpdateErrorStatus', means: 'resolve, mute and reopen errors' },
      { name: 'Tools/DeleteErrorLogs', means: 'delete errors one by one' },
      { name: 'Tools/ClearErrorLogs', means: 'delete everything before a date' },
      { name: 'Tools/RebuildErrorLogs', means: 'import old error files' },
      { name: 'Tools/GetLogSettings', means: 'read the logging settings' },
      { name: 'Tools/UpdateLogSettings', means: 'change the logging settings' },
    ],
  },
  {
    group: 'Settings', label: 'Sign-ins of your applications’ users',
    scopes: [
      { name: 'Settings/GetTwoFactor', means: 'read the two-step settings' },
      { name: 'Settings/UpdateTwoFactor', means: 'change the two-step settings, send a test mail' },
      { name: 'Settings/GetTwoFactorMethods', means: 'list the second-step methods' },
      { name: 'Settings/GetLocationVerification', means: 'read the location verification' },
      { name: 'Settings/UpdateLocationVerification', means: 'change the location verification' },
      { name: 'Settings/GetIpVerification', means: 'read the address verification' },
      { name: 'Settings/UpdateIpVerification', means: 'change the address verification' },
      { name: 'Settings/GetLocalization', means: 'read which location module is in use' },
      { name: 'Settings/UpdateLocalization', means: 'choose the location module' },
    ],
  },
  {
    group: 'SignIn', label: 'Applications that people sign in to',
    scopes: [
      { name: 'SignIn/Evaluate', means: 'ask what a sign-in needs, send and check codes' },
      { name: 'SignIn/Record', means: 'report how sign-ins ended' },
    ],
  },
  {
    group: 'Projects', label: 'Projects',
    scopes: [
      { name: 'Projects/Read', means: 'list projects with their DSNs' },
      { name: 'Projects/Manage', means: 'create projects, change and archive them' },
    ],
  },
  {
    group: 'Alerts', label: 'Alerts',
    scopes: [
      { name: 'Alerts/Read', means: 'see rules, channels and deliveries of alerts' },
      { name: 'Alerts/Manage', means: 'change rules and channels of alerts, send test messages' },
    ],
  },
  {
    group: 'Ops', label: 'Operating the service',
    scopes: [
      { name: 'Ops/Read', means: 'read the state of the service and its figures' },
      { name: 'Ops/Replay', means: 'make the records again from the log' },
      { name: 'Ops/Erase', means: 'erase a person from the records permanently' },
      { name: 'Ops/Nodes', means: 'take a node out of the cluster permanently' },
      { name: 'Audit/Read', means: 'read and verify the audit trail' },
      { name: 'Keys/Manage', means: 'list, create and revoke keys' },
      { name: 'Events/Write', means: 'send errors' },
    ],
  },
];

export const kinds: readonly { value: Key['kind']; label: string; means: string }[] = [
  { value: 'ing', label: 'Ingest', means: 'For applications. It can only send errors, so it may be in code that runs in a browser.' },
  { value: 'adm', label: 'Admin', means: 'For people and scripts. It may do what you tick below.' },
  { value: 'ops', label: 'Monitoring', means: 'For probes and dashboards. It can only read.' },
];

/** The scopes that a kind of key may hold at all. */
export function offered(kind: Key['kind'], scope: string): boolean {
  return kind === 'adm' || (kind === 'ops' ? scope === 'Ops/Read' || scope === 'Audit/Read' : scope === 'Events/Write');
}

/** The meaning of a scope or pattern; '' for one that this page does not know. */
export function meaning(scope: string): string {
  if (scope === '*') return 'everything';
  for (const g of scopeGroups) {
    const found = g.scopes.find((s) => s.name === scope);
    if (found) return found.means;
    if (scope === `${g.group}/*`) return `everything of ${g.label.toLowerCase()}`;
  }
  return '';
}
