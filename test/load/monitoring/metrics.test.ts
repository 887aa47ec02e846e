import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { request } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeCertificate } from '../../support/certificate.ts'
import { cloneDatabase } from '../../support/database.ts'
import { sharedFolder } from '../../support/folders.ts'
import { type Sample, samplesOf } from '../../support/metrics-text.ts'
import { readAlerts, readDashboard, readExpression } from '../../support/monitoring.ts'
import { freePort, type Run, runServer, serverKeys } from '../../support/run-server.ts'
import { shared } from '../../support/shared.ts'

// What the files of monitoring/ ask for is what a server answers that has all that can be shown: a certificate, BACKUP_DIR, SMTP_URL.

const folder = sharedFolder()
const database = await shared(cloneDatabase())
let server: Run
let byMetric: Map<string, Sample[]>

/** Labels and metrics of Prometheus itself. */
const ownLabels = ['job', 'instance']
const ownMetrics = ['up']

beforeAll(async () => {
  await database.db.$executeRaw`
    INSERT INTO "AuditEntry" ("at", "actorKind", "actor", "action", "target", "details", "address")
    VALUES (now(), 'operator', '', 'test', '', '{}', '')`
  const httpPort = await freePort()
  const tls = { TLS_CERT_FILE: join(folder, 'cert.pem'), TLS_KEY_FILE: join(folder, 'key.pem') }
  makeCertificate(tls.TLS_CERT_FILE, tls.TLS_KEY_FILE)
  mkdirSync(join(folder, 'backups'))
  server = runServer({
    ...tls,
    PORT: String(await freePort()),
    HTTP_PORT: String(httpPort),
    PUBLIC_URL: 'https://localhost',
    DATA_DIR: join(folder, 'data'),
    BACKUP_DIR: join(folder, 'backups'),
    // Nothing is due, so that nothing connects.
    SMTP_URL: 'smtp://127.0.0.1:9',
    MAIL_FROM: 'mail@shop.example',
    DATABASE_URL: database.url,
    ...serverKeys,
  })
  await server.shows('the database was backed up')
  const base = `http://127.0.0.1:${httpPort}`
  // Are counted, the second one as a failure.
  await (await request(`${base}/healthz`)).body.dump()
  await (await request(`${base}/cart.asmx`, { method: 'POST' })).body.dump()
  const answer = await request(`${base}/metrics`)
  byMetric = Map.groupBy(samplesOf(await answer.body.text()), ({ name }) => name)
})
afterAll(() => server?.end())

const dashboard = readDashboard()
const expressions = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => [`panel ${title}`, expr] as const),
  ),
  ...dashboard.templating.list.flatMap(({ name, definition }) => {
    const [, selector] = /^label_values\((.*), \w+\)$/.exec(definition ?? '') ?? []
    return selector === undefined ? [] : [[`variable ${name}`, selector] as const]
  }),
  ...readAlerts().map(({ name, expr }) => [`alert ${name}`, expr] as const),
]

test('every metric, label and value that dashboard and alerts name is in what a server answers', () => {
  const missing = expressions.flatMap(([where, expr]) => missingOf(expr).map((what) => `${where}: ${what}`))
  expect(missing).toEqual([])
  expect(expressions.length).toBeGreaterThan(90)
})

function missingOf(expr: string): string[] {
  const { selectors, grouping } = readExpression(expr)
  const known = selectors.filter(({ metric }) => !ownMetrics.includes(metric))
  const unknown = known.flatMap(({ metric, labels }) => {
    const samples = byMetric.get(metric)
    if (samples === undefined) return [metric]
    return labels.flatMap(({ name, value }) => {
      if (ownLabels.includes(name)) return []
      const has = samples.some((sample) => (value === null ? name in sample.labels : sample.labels[name] === value))
      return has ? [] : [`${metric}{${name}="${value ?? ''}"}`]
    })
  })
  const labels = new Set(
    known.flatMap(({ metric }) => (byMetric.get(metric) ?? []).flatMap((sample) => Object.keys(sample.labels))),
  )
  return [
    ...unknown,
    ...grouping.filter((label) => !ownLabels.includes(label) && !labels.has(label)).map((label) => `by (${label})`),
  ]
}

test('a name that no server answers would be found', () => {
  expect(missingOf('sum by (pool) (rate(database_pool_waits_seconds_bucket[5m]))')).toEqual([
    'database_pool_waits_seconds_bucket',
    'by (pool)',
  ])
  expect(missingOf('max by (pol) (store_platform_database_pool_waiting{pool="request"}) > 1e9')).toEqual([
    'store_platform_database_pool_waiting{pool="request"}',
    'by (pol)',
  ])
})
