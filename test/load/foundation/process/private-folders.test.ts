import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createDatabase } from '../../../support/database.ts'
import { folderOfTest } from '../../../support/folders.ts'
import { runServer, serverKeys } from '../../../support/run-server.ts'
import { ofTest } from '../../../support/shared.ts'

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

test('the folders of archives and backups, and their files, are the owner’s alone; one that is open is left so, with a warning', async () => {
  const folder = folderOfTest()
  const { url } = await ofTest(createDatabase())
  const [archive, backups, open] = ['archive', join('disk', 'backups'), 'open'].map((name) => join(folder, name))
  mkdirSync(String(open))
  chmodSync(String(open), 0o755)
  const settings = { ...serverKeys, DATABASE_URL: url, DATA_DIR: folder, PORT: '0', SANDBOX: 'true' }
  const age = { LEDGER_DAYS: '730', AUDIT_DAYS: '730', HISTORY_DAYS: '730' }

  const first = runServer({ ...settings, ...age, ARCHIVE_DIR: String(archive), BACKUP_DIR: String(backups) })
  // The sandbox has movements that are older.
  await first.shows('"msg":"old rows were archived"')
  await first.shows('"msg":"the database was backed up"')
  expect(await first.end()).toBe(0)
  expect(first.output()).not.toContain('open to other users')
  for (const made of [String(archive), String(backups)]) {
    expect(modeOf(made)).toBe('700')
    const files = readdirSync(made)
    expect(files).not.toEqual([])
    for (const file of files) expect(modeOf(join(made, file))).toBe('600')
  }

  const again = runServer({ ...settings, ...age, ARCHIVE_DIR: String(open), BACKUP_DIR: String(backups) })
  await again.shows('All keys')
  expect(await again.end()).toBe(0)
  expect(modeOf(String(open))).toBe('755')
  expect(again.output().match(/The folder of \w+ is open to other users/g)).toEqual([
    'The folder of ARCHIVE_DIR is open to other users',
  ])
})
