import { Writable } from 'node:stream'
import pino from 'pino'
import type { Services } from '../../src/app.ts'
import { createAuthenticator } from '../../src/applications/authenticate.ts'
import { createCallLog } from '../../src/applications/call-log.ts'
import { createThrottle } from '../../src/applications/throttle.ts'
import { createCsvImports } from '../../src/csv/runner.ts'
import type { Db } from '../../src/database/client.ts'
import { createOutageLines } from '../../src/database/outage-lines.ts'
import { createOutbound } from '../../src/outbound/outbound.ts'
import { logOptions } from '../../src/process/log.ts'
import { readConfig } from '../../src/process/settings.ts'
import { createTestStores } from '../../src/sandbox/runner.ts'
import { createMetrics } from '../../src/server/metrics.ts'
import { createSecrets } from '../../src/values/secrets.ts'

export const operatorKey = 'operator-key-of-the-tests'

/** What the application is made of, on `db`, with these settings; `lines` gathers what it logs. */
export function servicesOn(db: Db, settings: Record<string, string> = {}, lines: string[] = []): Services {
  const config = readConfig(settings)
  const { secretKey, nextSecretKey, previousSecretKey, previousOperatorKey } = config
  const others = [nextSecretKey ?? [], previousSecretKey ?? []].flat()
  const secrets = createSecrets(secretKey ?? 'secret-key-of-the-tests-secret-key', others)
  const now = () => new Date()
  const destination = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(String(chunk))
      done()
    },
  })
  const log = pino(logOptions(config.logLevel, createOutageLines().fateOf), destination)
  const authenticator = createAuthenticator({ db, secrets, now })
  return {
    config,
    operatorKey: config.operatorKey ?? operatorKey,
    previousOperatorKey,
    defaultTimeZone: config.timeZone,
    db,
    backgroundDb: db,
    databaseHealth: { fault: async () => null },
    secrets,
    authenticator,
    callLog: createCallLog({ db, now }),
    csvImports: createCsvImports({ db, secrets, now, log }),
    testStores: createTestStores({ db, secrets, now, log, config, authenticator }),
    outbound: createOutbound({ allow: config.outboundAllow, log }),
    throttle: createThrottle(now),
    metrics: createMetrics(),
    log,
    now,
  }
}
