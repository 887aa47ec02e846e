import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { createDatabaseMetrics } from '../../../src/foundation/database/metrics.ts'
import { createMetrics } from '../../../src/http/server/figures/metrics.ts'
import { sharedFolder } from '../../support/folders.ts'
import { readAlerts, rulesFile } from '../../support/monitoring.ts'

const promtool = '/usr/bin/promtool'
const isRequired = process.env.REQUIRE_PROMTOOL === 'true'
const alerts = readAlerts()

test('each alert has another name, a severity, a summary, what to do, and a section of docs/operations.md', () => {
  expect(new Set(alerts.map(({ name }) => name)).size).toBe(alerts.length)
  const manual = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8')
  const sections = [...manual.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  )
  for (const { name, text } of alerts) {
    expect(text, name).toMatch(/^ {8}labels:\n {10}severity: (critical|warning)\n/m)
    expect(text, name).toMatch(/^ {10}summary: ".+"\n {10}description: "[A-Z].+\."\n/m)
    const [, section] = /^ {10}runbook: docs\/operations\.md#(\S+)$/m.exec(text) ?? []
    expect(sections, name).toContain(section)
  }
})

test('each limit of a quantile is a bound of its histogram, with a bound above: between two bounds a quantile is a guess', () => {
  const { registry } = createMetrics()
  createDatabaseMetrics(registry, { breaker: () => ({ isOpen: false, openings: 0 }) })
  const limits = alerts.flatMap(({ expr }) => {
    const [, name = '', limit = ''] =
      /histogram_quantile\([\s\S]*?_platform_(\w+)_bucket[\s\S]*> ([\d.]+)\s*$/.exec(expr) ?? []
    return name === '' ? [] : [{ name, limit: Number(limit) }]
  })
  expect(limits).toHaveLength(3)
  for (const { name, limit } of limits) {
    const { upperBounds: bounds } = registry.getSingleMetric(name) as unknown as { upperBounds: readonly number[] }
    expect(bounds, name).toContain(limit)
    expect(bounds.at(-1), name).toBeGreaterThan(limit)
  }
})

/** Every case is an installation of its own in one Prometheus. */
const JOB = 'JOB'
const prefixOf = (name: string) => (/^(up$|nodejs_|process_resident_)/.test(name) ? '' : 'store_platform_')
const series = (name: string, labels = '', instance = 'one:3000') =>
  `${prefixOf(name)}${name}{job="${JOB}",instance="${instance}"${labels && `,${labels}`}}`
const requests = (status: string) => series('http_requests_total', `kind="rest",status="${status}"`)
const bucket = (le: string) => series('http_request_duration_seconds_bucket', `kind="rest",le="${le}"`)
const waits = (le: string) => series('database_pool_wait_seconds_bucket', `pool="requests",le="${le}"`)
const turns = (le: string) => series('database_turn_wait_seconds_bucket', `pool="requests",of="reads",le="${le}"`)
const throttled = (name: string) => series('http_throttled_requests_total', `bucket="${name}"`)
const cartApiFaults = series('cartapi_calls_total', 'operation="getOrder",outcome="fault",error="Server"')
const paused = series('webhook_endpoints', 'state="paused"')
const attempts = (outcome: string) => series('webhook_attempts_total', `outcome="${outcome}"`)
const delivery = (receiver: string) => series('webhook_delivery_lag_seconds', `receiver="${receiver}"`)
const lastRun = series('webhook_dispatcher_last_run_timestamp_seconds', 'loop="claiming"')
const mails = (outcome: string) => series('mail_attempts_total', `outcome="${outcome}"`)
const backup = (by: string) => series('backup_last_success_timestamp_seconds', `by="${by}"`)
const offset = (instance: string) => series('database_clock_offset_seconds', '', instance)

/** For some hours, a value each minute, in promtool's notation. */
const constant = (value: number) => `${value}x150`
const rising = (perMinute: number) => `0+${perMinute}x150`

/** promtool's time begins at 0. */
const LONG_AGO = -100_000

/** An installation that is well. */
const healthy: Readonly<Record<string, string>> = {
  [series('up')]: constant(1),
  [series('ready')]: constant(1),
  [requests('200')]: rising(600),
  [requests('500')]: rising(1),
  [series('http_requests_total', 'kind="health",status="503"')]: rising(60),
  [bucket('0.5')]: rising(600),
  [bucket('2')]: rising(601),
  [bucket('10')]: rising(601),
  [bucket('+Inf')]: rising(601),
  [series('cartapi_calls_total', 'operation="getOrder",outcome="result",error=""')]: rising(60),
  [cartApiFaults]: rising(10),
  [throttled('cartapi')]: rising(9),
  [throttled('application')]: rising(1),
  [series('nodejs_eventloop_lag_p99_seconds')]: constant(0.02),
  [waits('0.5')]: rising(1_000),
  [waits('2')]: rising(1_000),
  [waits('+Inf')]: rising(1_000),
  [turns('2')]: rising(1_000),
  [turns('10')]: rising(1_000),
  [turns('+Inf')]: rising(1_000),
  [series('database_server_connections')]: constant(17),
  [series('database_server_connections_max')]: constant(100),
  [series('database_breaker_open')]: constant(0),
  [series('database_breaker_openings_total')]: constant(1),
  [series('webhook_numbering_lag_seconds')]: constant(2),
  [delivery('answering')]: constant(10),
  [delivery('failing')]: constant(90_000),
  [lastRun]: rising(60),
  [paused]: constant(3),
  [attempts('delivered')]: rising(60),
  [attempts('retried')]: rising(20),
  [series('mail_oldest_waiting_seconds')]: constant(1_000),
  [mails('sent')]: rising(10),
  [mails('bounced')]: rising(0.1),
  [mails('failed')]: constant(3),
  [backup('schedule')]: constant(LONG_AGO),
  [backup('command')]: rising(60),
  [series('database_size_bytes')]: `1e10+1e5x150`,
  [series('process_resident_memory_bytes')]: constant(300e6),
  [series('process_memory_limit_bytes')]: constant(640e6),
  [series('http_connections', 'listener="PORT"')]: constant(100),
  [series('http_connections_max')]: constant(1_000),
  [offset('one:3000')]: constant(0.2),
  [series('tls_certificate_expiry_timestamp_seconds')]: constant(90 * 86_400),
}

/** Another program, whose figures have the same names. */
const other: Readonly<Record<string, string>> = {
  'process_resident_memory_bytes{job="other",instance="x"}': constant(9e9),
  'nodejs_eventloop_lag_p99_seconds{job="other",instance="x"}': constant(9),
}

/** What is otherwise, and the alerts that it leads to. `_`: the series is not there. */
const cases: readonly (readonly [string, Readonly<Record<string, string>>, readonly string[]])[] = [
  ['all is well', {}, []],
  [
    'all is well with a schedule',
    {
      [backup('schedule')]: rising(60),
      [series('backup_interval_seconds')]: constant(86_400),
      [series('backup_newest_file_timestamp_seconds')]: rising(60),
      [series('backup_failures_total')]: constant(4),
    },
    [],
  ],
  ['a process does not answer', { [series('up')]: constant(0) }, ['StorePlatformDown']],
  ['no process is known', { [series('up')]: '_x150' }, ['StorePlatformAbsent']],
  ['a process is not ready', { [series('ready')]: constant(0) }, ['StorePlatformNotReady']],
  ['one of 20 requests fails', { [requests('500')]: rising(30) }, ['StorePlatformErrors']],
  [
    'few requests, of which one fails',
    {
      [requests('200')]: '0+1x150',
      [requests('500')]: '0+0.1x150',
      [throttled('application')]: constant(0),
      [throttled('cartapi')]: constant(0),
      [cartApiFaults]: constant(0),
    },
    [],
  ],
  ['calls of cartAPI fail', { [throttled('cartapi')]: constant(0) }, ['StorePlatformCartApiFaults']],
  [
    'requests are slow',
    { [bucket('0.5')]: rising(500), [bucket('2')]: rising(500), [bucket('10')]: rising(600) },
    ['StorePlatformSlow'],
  ],
  [
    'the event loop is late',
    { [series('nodejs_eventloop_lag_p99_seconds')]: constant(0.8) },
    ['StorePlatformEventLoopDelay'],
  ],
  ['connections are waited for', { [waits('0.5')]: rising(900) }, ['StorePlatformPoolWaits']],
  ['turns are waited for', { [turns('2')]: rising(900) }, ['StorePlatformTurnWaits']],
  [
    'PostgreSQL has few sessions left',
    { [series('database_server_connections')]: constant(95) },
    ['StorePlatformDatabaseSessions'],
  ],
  ['the breaker is open', { [series('database_breaker_open')]: constant(1) }, ['StorePlatformBreakerOpen']],
  [
    'the breaker opens often',
    { [series('database_breaker_openings_total')]: rising(0.2) },
    ['StorePlatformBreakerFlapping'],
  ],
  ['figures are missing', { [series('webhook_numbering_lag_seconds')]: '_x150' }, ['StorePlatformFiguresMissing']],
  ['events get no numbers', { [series('webhook_numbering_lag_seconds')]: rising(60) }, ['StorePlatformNumberingLag']],
  ['deliveries are late', { [delivery('answering')]: constant(400) }, ['StorePlatformDeliveryLag']],
  ['the dispatcher has stopped', { [lastRun]: constant(600) }, ['StorePlatformDispatcherStopped']],
  ['a webhook was paused', { [paused]: '3x90 4x60' }, ['StorePlatformWebhooksPaused']],
  ['most deliveries fail', { [attempts('retried')]: rising(90) }, ['StorePlatformDeliveriesFail']],
  ['mails wait', { [series('mail_oldest_waiting_seconds')]: rising(60) }, ['StorePlatformMailsWait']],
  ['mails bounce', { [mails('bounced')]: rising(1) }, ['StorePlatformMailsFail']],
  ['the newest backup is old', { [backup('command')]: constant(LONG_AGO) }, ['StorePlatformBackupTooOld']],
  [
    'backups each week are not late',
    { [backup('command')]: constant(LONG_AGO), [series('backup_interval_seconds')]: constant(604_800) },
    [],
  ],
  [
    'the files of the schedule are gone',
    {
      [series('backup_interval_seconds')]: constant(86_400),
      [series('backup_newest_file_timestamp_seconds')]: constant(LONG_AGO),
    },
    ['StorePlatformBackupFileMissing'],
  ],
  ['a backup fails', { [series('backup_failures_total')]: '0x90 1x60' }, ['StorePlatformBackupFails']],
  ['the database grows', { [series('database_size_bytes')]: '1e9+2e7x150' }, ['StorePlatformDatabaseGrowth']],
  [
    'memory comes near the limit',
    { [series('process_resident_memory_bytes')]: constant(600e6) },
    ['StorePlatformMemory'],
  ],
  [
    'memory is unusual',
    {
      [series('process_resident_memory_bytes')]: constant(900e6),
      [series('process_memory_limit_bytes')]: constant(4e9),
    },
    ['StorePlatformMemoryUnusual'],
  ],
  [
    'connections run out',
    { [series('http_connections', 'listener="PORT"')]: constant(900) },
    ['StorePlatformConnections'],
  ],
  ['a bucket refuses a lot', { [throttled('refused')]: rising(120) }, ['StorePlatformThrottled']],
  ['a clock is wrong', { [offset('two:3000')]: constant(-20) }, ['StorePlatformClock']],
  [
    'the certificate expires soon',
    { [series('tls_certificate_expiry_timestamp_seconds')]: constant(9 * 86_400) },
    ['StorePlatformCertificate'],
  ],
  [
    'the certificate expires now',
    { [series('tls_certificate_expiry_timestamp_seconds')]: constant(2 * 86_400) },
    ['StorePlatformCertificate', 'StorePlatformCertificateExpires'],
  ],
]

describe.skipIf(!isRequired && !existsSync(promtool))(
  'the rules of alerts (needs promtool: the package prometheus)',
  () => {
    const folder = sharedFolder()

    test('are valid', () => {
      const output = run('check', 'rules', fileURLToPath(rulesFile))
      expect(output).toContain(`${alerts.length} rules found`)
    })

    test('fire when something is wrong, and only then', () => {
      const file = join(folder, 'alerts.test.json')
      writeFileSync(file, JSON.stringify(testFile()))
      expect(run('test', 'rules', file)).toContain('SUCCESS')
      const tested = new Set(cases.flatMap(([, , names]) => names))
      expect(alerts.map(({ name }) => name).filter((name) => !tested.has(name))).toEqual([])
    })

    /** JSON is YAML. */
    function testFile() {
      // Where one installation is known, none is missing.
      const { alone = [], together = [] } = Object.groupBy(cases, ([, , [alert]]) =>
        alert === 'StorePlatformAbsent' ? 'alone' : 'together',
      )
      return {
        rule_files: [fileURLToPath(rulesFile)],
        evaluation_interval: '1m',
        tests: [testOf(together), testOf(alone)],
      }
    }

    /** All of them at once, because evaluating the rules takes the time. */
    function testOf(installations: typeof cases) {
      const jobs = installations.map(([name, others, firing]) => ({ job: `store-platform ${name}`, others, firing }))
      const samples = jobs.flatMap(({ job, firing }) => firing.map((alertname) => ({ job, alertname })))
      return {
        interval: '1m',
        input_series: [
          ...jobs.flatMap(({ job, others }) =>
            Object.entries({ ...healthy, ...others }).map(([name, values]) => ({
              series: name.replace(JOB, job),
              values,
            })),
          ),
          ...Object.entries(other).map(([name, values]) => ({ series: name, values })),
        ],
        promql_expr_test: [
          {
            expr: 'count by (job, alertname) (ALERTS{alertstate="firing"})',
            eval_time: '130m',
            exp_samples: samples.map(({ job, alertname }) => ({
              labels:
                alertname === 'StorePlatformAbsent'
                  ? `{alertname="${alertname}"}`
                  : `{job="${job}", alertname="${alertname}"}`,
              value: 1,
            })),
          },
        ],
      }
    }

    function run(...args: string[]): string {
      try {
        return execFileSync(promtool, args, { encoding: 'utf8', stdio: 'pipe' })
      } catch (error) {
        const { stdout, stderr } = error as { stdout: string; stderr: string }
        return `${stdout}${stderr}`
      }
    }
  },
)
