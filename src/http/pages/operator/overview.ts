import type { FastifyInstance } from 'fastify'
import type { DataServices, Db } from '../../../foundation/database/client.ts'
import { askDatabase } from '../../../foundation/database/figures.ts'
import type { DatabaseHealth } from '../../../foundation/database/health.ts'
import type { Config } from '../../../foundation/process/settings.ts'
import { t } from '../../../foundation/texts/text.ts'
import { ageFigures } from '../../../operations/installation/age-figures.ts'
import { backupFigures } from '../../../operations/installation/backup/made.ts'
import { sizeFigures } from '../../../operations/installation/size-figures.ts'
import { upgradeFigures } from '../../../operations/installation/upgrades.ts'
import { BACKUP_LATE, disksOf } from '../../../shop/alerts/kinds.ts'
import { dispatchFigures } from '../../../shop/webhooks/dispatch/figures.ts'
import type { HtmlPage } from '../../html/page.ts'
import { pagesFor } from '../../html/page-routes.ts'
import { mailCounts } from './waiting.ts'

export interface OverviewServices extends DataServices {
  /** The client for the background, which the figures are read with. */
  backgroundDb: Db
  readonly databaseHealth: Pick<DatabaseHealth, 'fault'>
  readonly config: Pick<Config, 'backupDir' | 'backupHours' | 'dataDir' | 'smtpUrl' | 'sandbox'>
}

/** One value of a figure, with its labels. */
type Reading = readonly [value: number, labels: Readonly<Record<string, string>>]

const DAY_MS = 86_400_000
const TABLES_SHOWN = 20

const diskNames = {
  'the data folder': t('Disk of the data folder'),
  'the backups': t('Disk of the backups'),
} as const

/** Adds the first page of the operator, with what needs somebody, and the page of sizes. */
export function overviewPages(app: FastifyInstance, services: OverviewServices): void {
  const { page } = pagesFor(app, 'operator')
  page('/operator', () => overviewPage(services))
  page('/operator/sizes', () => sizesPage(services))
}

/** Reads the figures that /metrics has too, so that a page and an alert never differ. What cannot be read is left out. */
async function read({ backgroundDb, now }: OverviewServices, parts: Parameters<typeof askDatabase>[1]) {
  const readings = new Map<string, Reading[]>()
  const sampled = askDatabase({ db: backgroundDb, now }, parts)
  const isWhole = await sampled
    .sample((name, value, labels = {}) => readings.set(name, [...(readings.get(name) ?? []), [value, labels]]))
    .then(() => true)
    .catch(() => false)
  const all = (name: string): readonly Reading[] => readings.get(name) ?? []
  const one = (name: string, labels: Readonly<Record<string, string>> = {}) =>
    all(name).find(([, its]) => Object.entries(labels).every(([key, value]) => its[key] === value))?.[0] ?? null
  return { all, one, isWhole }
}

async function overviewPage(services: OverviewServices): Promise<HtmlPage> {
  const { db, now, config, databaseHealth } = services
  const figures = await read(services, [dispatchFigures, backupFigures, upgradeFigures])
  const [stores, testStores, applications, people, developers] = await Promise.all([
    db.store.count({ where: { testStore: null } }),
    db.testStore.count({ where: { store: { closedAt: null } } }),
    db.application.count(),
    db.storeUser.count({ where: { store: { testStore: null } } }),
    db.developer.count(),
  ])
  const backups = figures
    .all('backup_last_success_timestamp_seconds')
    .flatMap(([epoch]) => (epoch > 0 ? [new Date(epoch * 1_000)] : []))
  const backupAt = backups.toSorted((one, other) => Number(other) - Number(one))[0] ?? null
  const lateMs = config.backupHours * BACKUP_LATE * 3_600_000
  return {
    template: '/pages/operator/overview',
    title: t('This installation'),
    data: {
      counts: { stores, testStores, applications, people, developers },
      databaseFault: await databaseHealth.fault('changes'),
      isWhole: figures.isWhole,
      rowsLeft: figures.all('upgrade_rows_left').reduce((sum, [rows]) => sum + rows, 0),
      backupAt,
      isBackupMissing: backupAt === null || now().getTime() - backupAt.getTime() > lateMs,
      hasSchedule: config.backupDir !== null,
      disks: (await disksOf(config)).map((disk) => ({ ...disk, name: diskNames[disk.name] })),
      pendingDeliveries: figures.one('webhook_pending_deliveries') ?? 0,
      failingWebhooks: figures.one('webhook_endpoints', { state: 'failing' }) ?? 0,
      pausedWebhooks: figures.one('webhook_endpoints', { state: 'paused' }) ?? 0,
      mails: await mailCounts(services),
      sendsMail: config.smtpUrl !== null,
      now: now(),
    },
  }
}

async function sizesPage(services: OverviewServices): Promise<HtmlPage> {
  const { now, config } = services
  const figures = await read(services, [sizeFigures, ageFigures, backupFigures])
  const tables = figures.all('database_table_size_bytes').map(([bytes, { table = '' }]) => {
    const oldest = figures.one('database_oldest_row_timestamp_seconds', { table })
    const days = oldest === null ? null : (now().getTime() - oldest * 1_000) / DAY_MS
    return {
      table,
      bytes,
      rows: figures.one('database_table_rows', { table }) ?? 0,
      oldest: oldest === null ? null : new Date(oldest * 1_000),
      // Over less than a day, the pace says nothing.
      perDay: days === null || days < 1 ? null : bytes / days,
    }
  })
  const backups = ['schedule', 'command'].map((by) => ({
    by,
    epoch: figures.one('backup_last_success_timestamp_seconds', { by }) ?? 0,
    bytes: figures.one('backup_last_size_bytes', { by }) ?? 0,
    seconds: figures.one('backup_last_duration_seconds', { by }) ?? 0,
  }))
  return {
    template: '/pages/operator/sizes',
    title: t('Sizes and backups'),
    data: {
      bytes: figures.one('database_size_bytes'),
      tables: tables.toSorted((one, other) => other.bytes - one.bytes).slice(0, TABLES_SHOWN),
      backups: backups.flatMap(({ epoch, ...backup }) =>
        epoch > 0 ? [{ ...backup, at: new Date(epoch * 1_000) }] : [],
      ),
      isWhole: figures.isWhole,
      hasSchedule: config.backupDir !== null,
      backupHours: config.backupHours,
      now: now(),
    },
  }
}
