// What an application loads before itself ("node --import").
import * as Sentry from '@sentry/node'

Sentry.init({
  dsn: process.env.DSN,
  attachStacktrace: true,
  release: 'shop@1.4.2',
  environment: 'production',
  serverName: 'web-1',
})
