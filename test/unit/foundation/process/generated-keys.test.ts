import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test, vi } from 'vitest'
import { installationKeys, type Keys, makeDataFolder } from '../../../../src/foundation/process/data-folder.ts'
import { StartupError } from '../../../../src/foundation/process/startup-error.ts'
import { folderOfTest } from '../../../support/folders.ts'

let dataDir: string
beforeEach(() => {
  dataDir = folderOfTest()
})

const none = { secretKey: null, secretKeyNext: null, secretKeyPrevious: null, operatorKey: null }

async function keptKeys(given: Parameters<typeof installationKeys>[0]): Promise<Keys> {
  const { keys, keep } = await installationKeys(given)
  await keep()
  return keys
}

test('a folder where nothing can be made is refused at once, and one that has the start wait is named', async () => {
  await expect(makeDataFolder('/proc/x/y', 'BACKUP_DIR')).rejects.toThrow(
    /^\/proc\/x\/y cannot be written .*BACKUP_DIR$/,
  )
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const made = makeDataFolder(join(dataDir, 'a/b'), 'BACKUP_DIR')
  vi.advanceTimersByTime(10_000)
  vi.useRealTimers()
  await made
  expect(said.mock.calls).toEqual([[`Waiting for BACKUP_DIR (${dataDir}/a/b) …\n`]])
  said.mockRestore()
})

test('keys are made once, kept for their owner alone, and found again', async () => {
  const first = await keptKeys({ dataDir, ...none })
  expect(first.secretKey).toMatch(/^[0-9a-f]{64}$/)
  expect(first.operatorKey).toMatch(/^[0-9a-f]{48}$/)
  expect(statSync(join(dataDir, 'keys.json')).mode & 0o777).toBe(0o600)
  expect(readdirSync(dataDir)).toEqual(['keys.json'])
  expect(await keptKeys({ dataDir, ...none })).toEqual(first)
})

test('keys that are not kept leave no file', async () => {
  await installationKeys({ dataDir, ...none })
  expect(readdirSync(dataDir)).toEqual([])
})

test('a file that a kill left half written does no harm, and does not lend its mode', async () => {
  writeFileSync(join(dataDir, 'keys.json.new'), '{"secretKey": "hal')
  chmodSync(join(dataDir, 'keys.json.new'), 0o644)
  const keys = await keptKeys({ dataDir, ...none })
  expect(keys).toMatchObject(JSON.parse(readFileSync(join(dataDir, 'keys.json'), 'utf8')))
  expect(statSync(join(dataDir, 'keys.json')).mode & 0o777).toBe(0o600)
})

test('a given key counts, and the other is generated', async () => {
  const operatorKey = 'o'.repeat(20)
  const keys = await keptKeys({ dataDir, ...none, operatorKey })
  expect(keys.operatorKey).toBe(operatorKey)
  expect((await keptKeys({ dataDir, ...none })).secretKey).toBe(keys.secretKey)
})

test('with both keys given no file is needed', async () => {
  const given = { secretKey: 's'.repeat(32), operatorKey: 'o'.repeat(20) }
  const others = { secretKeyNext: 'n'.repeat(32), secretKeyPrevious: 'p'.repeat(32) }
  expect(await keptKeys({ dataDir: '/nonexistent', ...given, ...others })).toEqual({
    ...given,
    otherSecretKeys: Object.values(others),
  })
})

test('a damaged file is never replaced: the stored secrets would be lost', async () => {
  writeFileSync(join(dataDir, 'keys.json'), '{}')
  await expect(installationKeys({ dataDir, ...none })).rejects.toThrow(StartupError)
  expect(readFileSync(join(dataDir, 'keys.json'), 'utf8')).toBe('{}')
})

test('a data folder that cannot be made is told with the way out', async () => {
  writeFileSync(join(dataDir, 'file'), '')
  const made = makeDataFolder(join(dataDir, 'file', 'data'))
  await expect(made).rejects.toThrow(/ENOTDIR.*DATA_DIR/)
})
