import { Writable } from 'node:stream'
import pino from 'pino'
import { createAuthenticator } from '../../src/access/authenticate.ts'
import { createCallLog } from '../../src/access/call-log.ts'
import { createSecrets } from '../../src/access/secrets.ts'
import type { Services } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import type { Db } from '../../src/database/client.ts'
import { logOptions } from '../../src/log.ts'
import { createMetrics } from '../../src/metrics.ts'
import { createOutbound } from '../../src/outbound.ts'
import { createThrottle } from '../../src/throttle.ts'

export const operatorKey = 'operator-key-of-the-tests'

/** What the application is made of, on `db`, with these settings; `lines` gathers what it logs. */
export function servicesOn(db: Db, settings: Record<string, string> = {}, lines: string[] = []): Services {
  const config = readConfig(settings)
  const secrets = createSecrets('secret-key-of-the-tests-secret-key')
  const now = () => new Date()
  const destination = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(String(chunk))
      done()
    },
  })
  const log = pino(logOptions(config.logLevel), destination)
  return {
    config,
    operatorKey,
    defaultTimeZone: config.timeZone,
    services: [],
    db,
    secrets,
    authenticator: createAuthenticator({ db, secrets, now }),
    callLog: createCallLog({ db, now }),
    outbound: createOutbound({ allow: config.outboundAllow, log }),
    throttle: createThrottle(now),
    metrics: createMetrics(),
    log,
    now,
  }
}
