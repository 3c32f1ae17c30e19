// Code to paste into an application to send its first error.

export interface Snippet {
  name: string;
  language: string;
  text: string;
}

/** The parts of a DSN; null when it is invalid. */
export function parseDSN(dsn: string): { origin: string; publicKey: string; path: string; project: string } | null {
  try {
    const url = new URL(dsn);
    const at = url.pathname.lastIndexOf('/');
    const project = url.pathname.slice(at + 1);
    if (!url.username || !project) return null;
    return { origin: url.origin, publicKey: url.username, path: url.pathname.slice(0, at), project };
  } catch {
    return null;
  }
}

// The names of platforms begin with the language, as those of the SDKs do.
const families: readonly (readonly [RegExp, string])[] = [
  [/^(go|golang)\b/, 'Go'], [/^(php|laravel|symfony|wordpress|drupal)\b/, 'PHP'], [/^(node|nodejs|deno|bun|express|nestjs|javascript-nextjs)\b/, 'Node.js'],
  [/^(javascript|typescript|js|browser|react|vue|angular|svelte)\b/, 'JavaScript'], [/^(python|django|flask|fastapi)\b/, 'Python'],
];

/** Which of the snippets suits a platform: curl where there is none for it, the first where nobody said. */
export function suits(list: readonly Snippet[], platform: string): number {
  if (!platform) return 0;
  const name = families.find(([pattern]) => pattern.test(platform))?.[1] ?? 'curl';
  return Math.max(0, list.findIndex((s) => s.name === name));
}

/** Snippets for a DSN. With an ingestKey the curl line sends a native event. */
export function snippets(dsn: string, ingestKey = ''): Snippet[] {
  return [
    {
      name: 'Go', language: 'go get github.com/getsentry/sentry-go',
      text: `err := sentry.Init(sentry.ClientOptions{\n\tDsn: "${dsn}",\n})\nif err != nil {\n\tlog.Fatal(err)\n}\ndefer sentry.Flush(2 * time.Second)\n\nsentry.CaptureException(errors.New("my first error"))`,
    },
    {
      name: 'PHP', language: 'composer require sentry/sentry',
      text: `\\Sentry\\init(['dsn' => '${dsn}']);\n\n\\Sentry\\captureException(new \\RuntimeException('my first error'));`,
    },
    {
      name: 'JavaScript', language: 'npm install @sentry/browser',
      text: `import * as Sentry from '@sentry/browser';\n\nSentry.init({ dsn: '${dsn}' });\n\nSentry.captureException(new Error('my first error'));`,
    },
    {
      name: 'Node.js', language: 'npm install @sentry/node',
      text: `import * as Sentry from '@sentry/node';\n\nSentry.init({ dsn: '${dsn}' });\n\nSentry.captureException(new Error('my first error'));\nawait Sentry.flush(2000);`,
    },
    {
      name: 'Python', language: 'pip install sentry-sdk',
      text: `import sentry_sdk\n\nsentry_sdk.init(dsn="${dsn}")\n\nsentry_sdk.capture_exception(RuntimeError("my first error"))`,
    },
    { name: 'curl', language: 'nothing to install', text: curl(dsn, ingestKey) },
  ];
}

function curl(dsn: string, ingestKey: string): string {
  const parts = parseDSN(dsn);
  if (!parts) return '';
  const type = `-H 'Content-Type: application/json'`;
  if (ingestKey) {
    return `curl -sS ${parts.origin}${parts.path}/api/v1/events \\\n  -H 'Authorization: Bearer ${ingestKey}' ${type} \\\n  -d '{"message":"my first error","exception_class":"FirstError","file":"first.sh","line":1}'`;
  }
  return `curl -sS '${parts.origin}${parts.path}/api/${parts.project}/store/?sentry_key=${parts.publicKey}' \\\n  ${type} \\\n  -d '{"message":"my first error","level":"error"}'`;
}
