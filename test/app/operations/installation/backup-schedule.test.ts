import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test, vi } from 'vitest'
import { diskFiles } from '../../../../src/foundation/files/disk.ts'
import { createSecrets } from '../../../../src/foundation/values/secrets.ts'
import { keyFingerprints } from '../../../../src/operations/installation/backup/key.ts'
import { openBackup } from '../../../../src/operations/installation/backup/read.ts'
import { createBackupSchedule } from '../../../../src/operations/installation/backup/schedule.ts'
import { openClient } from '../../../support/client.ts'
import { workerDatabase } from '../../../support/database.ts'
import { folderOfTest } from '../../../support/folders.ts'
import { shared } from '../../../support/shared.ts'

const HOUR_MS = 3_600_000
const secrets = createSecrets('secret-key-of-the-tests-secret-key')
const prefix = `store-platform-${keyFingerprints(secrets)[0].slice(0, 8)}-`

let dir: string
let nowMs: number
let infos: string[]
let errors: unknown[]

const url = (await workerDatabase()).url
const client = await shared(openClient(url))
beforeEach(() => {
  dir = join(folderOfTest(), 'backups')
  nowMs = Date.parse('2026-03-10T16:00:00Z')
  infos = []
  errors = []
})

function openSchedule() {
  return createBackupSchedule({
    url,
    secrets,
    files: diskFiles(dir),
    dir,
    hours: 24,
    keep: 3,
    now: () => new Date(nowMs),
    log: {
      info: (_details, message) => infos.push(message),
      warn: (details, message) => errors.push([message, details]),
      error: (details, message) => errors.push([message, details]),
    },
  })
}

const files = () => readdirSync(dir).sort()

async function days(count: number, schedule = openSchedule()): Promise<void> {
  for (let day = 0; day < count; day++) {
    await schedule.runDue()
    nowMs += 24 * HOUR_MS
  }
}

test('makes a backup as soon as the newest is as old as it says, and it can be read', async () => {
  const schedule = openSchedule()
  await schedule.runDue()
  expect(files()).toEqual([`${prefix}20260310T160000Z.backup`])
  nowMs += 24 * HOUR_MS - 1
  await schedule.runDue()
  expect(files()).toHaveLength(1)
  nowMs += 1
  // A process that has just started knows no more than the files say.
  await openSchedule().runDue()
  expect(files()).toEqual([`${prefix}20260310T160000Z.backup`, `${prefix}20260311T160000Z.backup`])
  const { header, rows } = await openBackup(join(dir, `${prefix}20260311T160000Z.backup`))
  expect(header.createdAt).toBe('2026-03-11T16:00:00.000Z')
  expect(rows).toHaveLength(header.tables.length)
  expect(errors).toEqual([])
})

test('keeps the newest, and touches no file that is not one of its own', async () => {
  mkdirSync(dir)
  const others = [
    'store-platform-00000000-20200101T000000Z.backup',
    'mine.backup',
    `${prefix}20200101T000000Z.backup.gz`,
  ]
  for (const name of [...others, `${prefix}20200101T000000Z.backup`, `${prefix}20200102T000000Z.backup.part`]) {
    writeFileSync(join(dir, name), '')
  }
  await days(5)
  const kept = ['12', '13', '14'].map((day) => `${prefix}202603${day}T160000Z.backup`)
  expect(files()).toEqual([...others, ...kept].sort())
})

test('a file of a time that has not come neither delays backups nor takes the place of one', async () => {
  mkdirSync(dir)
  const ahead = `${prefix}20990101T000000Z.backup`
  writeFileSync(join(dir, ahead), '')
  await days(5)
  expect(files()).toHaveLength(4)
  expect(files()).toContain(ahead)
})

test('several processes make one backup between them', async () => {
  const processes = [openSchedule(), openSchedule(), openSchedule()]
  await Promise.all(processes.map((each) => each.runDue()))
  expect(files()).toHaveLength(1)
  expect(infos).toHaveLength(1)
  expect(errors).toEqual([])
})

test('a process leaves the backup to another one that is making it', async () => {
  await client.query('BEGIN; SELECT pg_advisory_xact_lock(7301409, 0)')
  await openSchedule().runDue()
  await client.query('ROLLBACK')
  expect({ files: files(), errors }).toEqual({ files: [], errors: [] })
})

test('a failure is logged as an error, leaves nothing, and is tried again after ten minutes', async () => {
  const schedule = openSchedule()
  writeFileSync(dir, 'not a folder')
  await schedule.runDue()
  expect(errors).toMatchObject([['the database could not be backed up', { folder: dir }]])
  rmSync(dir)
  nowMs += 599_999
  await schedule.runDue()
  expect(existsSync(dir)).toBe(false)
  nowMs += 1
  await schedule.runDue()
  expect(files()).toHaveLength(1)
  expect(errors).toHaveLength(1)
})

test('the end of the process breaks a backup off, which leaves nothing and is no error', async () => {
  await client.query('BEGIN; LOCK TABLE "Webhook" IN ACCESS EXCLUSIVE MODE')
  const schedule = openSchedule()
  schedule.start()
  await vi.waitFor(() => expect(files()).toEqual([expect.stringMatching(/\.part$/)]), { timeout: 20_000 })
  await schedule.stop()
  await client.query('ROLLBACK')
  expect({ files: files(), errors, infos }).toEqual({ files: [], errors: [], infos: [] })
})
