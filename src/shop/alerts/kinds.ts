import { statfs } from 'node:fs/promises'
import { refusedSubscriptions } from '../../access/applications/calls/call-log.ts'
import { allows } from '../../access/applications/privileges.ts'
import type { OwnPath } from '../../access/mail/kinds.ts'
import type { Access, Privileges } from '../../engine/caller.ts'
import type { Transaction } from '../../foundation/database/client.ts'
import type { Config } from '../../foundation/process/settings.ts'
import { type Phrase, problemOf, type Text, t } from '../../foundation/texts/text.ts'
import { resourceNamed } from '../registry.ts'
import { serviceWords } from '../staff/names.ts'

// What people can be told of by mail, if they want to: what it is, who may, and how it is found.

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** A mail of an alert has so many lines. */
const LINES_MAX = 20
/** A backup that is older than this many times BACKUP_HOURS is missing. */
export const BACKUP_LATE = 1.5
/** A disk with less free space than this is nearly full. */
const FREE_SHARE_MIN = 0.1
/** Mails that wait for so long are stuck. */
const MAIL_WAIT_MS = HOUR_MS

interface Look {
  readonly tx: Transaction
  readonly now: Date
  /** What happened before was told of, or was before somebody asked to be told. */
  readonly since: Date
}

interface Kind<Place> {
  /** In the list to choose from. */
  readonly words: Text
  /** The shortest time between two mails. */
  readonly pauseMs: number
  /** The page that a mail leads to. */
  readonly link: OwnPath
  /** Returns what there is to tell, a sentence each; none: nothing. */
  readonly find: (look: Look, place: Place) => Promise<readonly Phrase[]>
}

interface StorePlace {
  readonly storeId: number
  /** Of the person who is told. */
  readonly privileges: Privileges
}

/** An alert for people of a store, who need the privilege, if there is one. */
export interface StoreKind extends Kind<StorePlace> {
  readonly need: readonly [privilege: string, access: Access] | null
}

export const storeAlerts = {
  'webhook-paused': {
    words: t('A webhook is paused, because its receiver does not answer'),
    need: ['Webhooks', 'read'],
    pauseMs: 0,
    link: '/admin/webhooks',
    find: async ({ tx, since, now }, { storeId }) => {
      const paused = await tx.webhook.findMany({
        where: { storeId, pauseReason: { not: null }, disabledAt: { gt: since, lte: now } },
        select: { name: true, pauseReason: true },
        orderBy: { id: 'asc' },
        take: LINES_MAX,
      })
      return paused.map(({ name, pauseReason }) =>
        t('The webhook {name} is paused: {reason}.', { name, reason: problemOf(pauseReason ?? '') }),
      )
    },
  },
  'application-failing': {
    words: t('An application fails: its last calls were all refused'),
    need: ['Keys', 'read'],
    pauseMs: DAY_MS,
    link: '/admin/modules/rest-api',
    find: async ({ tx, since, now }, { storeId }) => {
      const failing = await refusedSubscriptions({ db: tx, now: () => now }, storeId)
      return failing
        .filter(({ last }) => last.at > since)
        .slice(0, LINES_MAX)
        .map(({ name, last: { method, path, message } }) =>
          t('The last calls of {name} were refused: {method} {path}, {message}.', {
            name,
            method,
            path,
            message: problemOf(message),
          }),
        )
    },
  },
  'stock-out': {
    words: t('Products have run out (one mail a day)'),
    need: ['Products', 'read'],
    pauseMs: DAY_MS,
    link: '/admin/products',
    find: async ({ tx, since, now }, { storeId }) => {
      const products = await tx.$queryRaw<{ name: string; sku: string }[]>`
        SELECT "name", "sku" FROM "Product" WHERE "storeId" = ${storeId} AND "stock" <= greatest("stockAlert", 0) AND "stock" <= 0
          AND EXISTS (SELECT FROM "StockMovement" WHERE "StockMovement"."storeId" = ${storeId} AND "productId" = "Product"."id"
            AND "createdAt" > ${since} AND "createdAt" <= ${now})
        ORDER BY "stock", "id" LIMIT ${LINES_MAX}`
      return products.map(({ name, sku }) => t('{name} ({sku}) has run out.', { name, sku }))
    },
  },
  'import-ended': {
    words: t('The changes of a CSV file, or of many records, have been made or were stopped'),
    need: null,
    pauseMs: 0,
    link: '/admin/csv',
    find: async ({ tx, since, now }, { storeId, privileges }) => {
      const imports = await tx.csvImport.findMany({
        where: { storeId, state: { in: ['done', 'cancelled'] }, endedAt: { gt: since, lte: now } },
        select: { service: true, source: true, fileName: true, state: true, changed: true, added: true, failed: true },
        orderBy: { id: 'asc' },
        take: LINES_MAX,
      })
      return imports
        .filter(({ service }) => allows(privileges, resourceNamed(service).privilege, 'write'))
        .map(({ source, fileName, service, ...became }) => {
          const file = fileName || t('a CSV file')
          const values = { ...became, service: serviceWords(resourceNamed(service)).allTitle, file }
          if (source === 'bulk')
            return t(
              'The change of many records ({service}) {state, select, done {ended} other {was stopped}}: {changed, number} changed, {added, number} added, {failed, number} failed.',
              values,
            )
          if (source === 'back')
            return t(
              'The change that puts records back ({service}) {state, select, done {ended} other {was stopped}}: {changed, number} changed, {added, number} added, {failed, number} failed.',
              values,
            )
          return t(
            'The import of {file} ({service}) {state, select, done {ended} other {was stopped}}: {changed, number} changed, {added, number} added, {failed, number} failed.',
            values,
          )
        })
    },
  },
} as const satisfies Record<string, StoreKind>

/** What developers break in their test stores needs nobody, nor does what waits in closed stores. */
const ofOpen = { OR: [{ storeId: null }, { store: { closedAt: null } }] }
const ofShops = { store: { testStore: null, closedAt: null } } as const

export const operatorAlerts = {
  'no-backup': {
    words: t('No backup was made in time'),
    pauseMs: DAY_MS,
    link: '/operator/sizes',
    find: async ({ tx, now }, { config: { backupHours } }) => {
      const { createdAt } = (await tx.backup.aggregate({ _max: { createdAt: true } }))._max
      if (createdAt === null) return [t('There is no backup of this installation yet.')]
      const hours = (now.getTime() - createdAt.getTime()) / HOUR_MS
      return hours <= backupHours * BACKUP_LATE
        ? []
        : [t('The last backup is {hours, number} hours old.', { hours: Math.floor(hours) })]
    },
  },
  'disk-full': {
    words: t('A disk is nearly full'),
    pauseMs: DAY_MS,
    link: '/operator',
    find: async (_look, { config }) => {
      const disks = await disksOf(config)
      return disks
        .filter(({ isLow }) => isLow)
        .map(({ name, percent }) =>
          name === 'the data folder'
            ? t('Of the disk of the data folder, {percent, number} % are free.', { percent })
            : t('Of the disk of the backups, {percent, number} % are free.', { percent }),
        )
    },
  },
  'deliveries-fail': {
    words: t('Webhooks fail or are paused'),
    pauseMs: DAY_MS,
    link: '/operator/deliveries',
    find: async ({ tx, since }) => {
      const [failing, paused] = await Promise.all([
        tx.webhook.count({
          where: { ...ofShops, enabled: true, failingSince: { not: null }, lastFailedAt: { gt: since } },
        }),
        tx.webhook.count({ where: { ...ofShops, pauseReason: { not: null }, disabledAt: { gt: since } } }),
      ])
      if (failing + paused === 0) return []
      return [t('{failing, number} webhooks fail, and {paused, number} were paused.', { failing, paused })]
    },
  },
  'mails-wait': {
    words: t('Mails wait for more than an hour, or were given up'),
    pauseMs: DAY_MS,
    link: '/operator/mails',
    find: async ({ tx, now, since }) => {
      const stuck = { state: 'waiting', createdAt: { lt: new Date(now.getTime() - MAIL_WAIT_MS) }, ...ofOpen }
      const waiting = await tx.mail.count({ where: stuck })
      const failed = await tx.mail.count({ where: { state: 'failed', nextAttemptAt: { gt: since } } })
      if (waiting + failed === 0) return []
      const counts = { waiting, failed }
      return [t('{waiting, number} mails wait for more than an hour, and {failed, number} were given up.', counts)]
    },
  },
} as const satisfies Record<string, Kind<{ config: Pick<Config, 'backupDir' | 'backupHours' | 'dataDir'> }>>

export type StoreAlert = keyof typeof storeAlerts
export type OperatorAlert = keyof typeof operatorAlerts

/** The kinds that somebody with these privileges may be told of, with their words. */
export function storeAlertsFor(privileges: Privileges): [StoreAlert, Text][] {
  const kinds = Object.entries(storeAlerts) as [StoreAlert, StoreKind][]
  return kinds
    .filter(([, { need }]) => need === null || allows(privileges, ...need))
    .map(([kind, { words }]) => [kind, words])
}

/** The room of the folders that the server writes to; none for one that does not exist. */
export async function disksOf({ dataDir, backupDir }: Pick<Config, 'dataDir' | 'backupDir'>) {
  const folders = [
    ['the data folder', dataDir],
    ['the backups', backupDir],
  ] as const
  const found = folders.map(async ([name, folder]) => {
    const room = folder === null ? null : await statfs(folder).catch(() => null)
    if (room === null) return []
    const share = room.bavail / room.blocks
    return [{ name, free: room.bavail * room.bsize, percent: Math.floor(100 * share), isLow: share < FREE_SHARE_MIN }]
  })
  return (await Promise.all(found)).flat()
}
