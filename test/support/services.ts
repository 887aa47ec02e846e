import { Writable } from 'node:stream'
import pino from 'pino'
import { createAuthenticator } from '../../src/access/applications/authenticate.ts'
import { createCallLog } from '../../src/access/applications/calls/call-log.ts'
import { createThrottle } from '../../src/access/applications/limits/throttle.ts'
import type { Services } from '../../src/app.ts'
import type { Db } from '../../src/foundation/database/client.ts'
import { createOutageLines } from '../../src/foundation/database/outage-lines.ts'
import { openFiles } from '../../src/foundation/files/files.ts'
import { createOutbound } from '../../src/foundation/outbound/outbound.ts'
import { createDecoder } from '../../src/foundation/pictures/decoder.ts'
import { logOptions } from '../../src/foundation/process/log.ts'
import { readConfig } from '../../src/foundation/process/settings.ts'
import { createSecrets } from '../../src/foundation/values/secrets.ts'
import { createMetrics } from '../../src/http/server/figures/metrics.ts'
import { createTestStores } from '../../src/operations/sandbox/runner.ts'
import { createCsvImports } from '../../src/shop/csv/apply/runner.ts'
import { serverKeys } from './run-server.ts'

export const operatorKey = serverKeys.OPERATOR_KEY

/** What the application is made of, on `db`, with these settings; `lines` gathers what it logs. */
export function servicesOn(db: Db, settings: Record<string, string> = {}, lines: string[] = []): Services {
  const config = readConfig(settings)
  const { secretKey, secretKeyNext, secretKeyPrevious, operatorKeyPrevious } = config
  const others = [secretKeyNext ?? [], secretKeyPrevious ?? []].flat()
  const secrets = createSecrets(secretKey ?? serverKeys.SECRET_KEY, others)
  const now = () => new Date()
  const destination = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(String(chunk))
      done()
    },
  })
  const log = pino(logOptions(config.logLevel, createOutageLines().fateOf), destination)
  const authenticator = createAuthenticator({ db, secrets, now })
  const files = openFiles(config)
  return {
    config,
    operatorKey: config.operatorKey ?? operatorKey,
    previousOperatorKey: operatorKeyPrevious,
    defaultTimeZone: config.timeZone,
    db,
    backgroundDb: db,
    files,
    decoder: createDecoder(),
    databaseHealth: { fault: async () => null },
    secrets,
    authenticator,
    callLog: createCallLog({ db, now }),
    csvImports: createCsvImports({ db, secrets, now, log }),
    testStores: createTestStores({ db, secrets, now, log, files, authenticator }),
    outbound: createOutbound({ allow: config.outboundAllow, log }),
    throttle: createThrottle(now),
    metrics: createMetrics(),
    log,
    now,
  }
}
