import { readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import S3rver from '@20minutes/s3rver'
import { afterAll, expect, test } from 'vitest'
import { diskFiles } from '../../../../src/foundation/files/disk.ts'
import type { Files } from '../../../../src/foundation/files/files.ts'
import { s3Files } from '../../../../src/foundation/files/s3.ts'
import { sharedFolder } from '../../../support/folders.ts'

const folder = sharedFolder()
const bucket = new S3rver({
  port: 0,
  silent: true,
  directory: join(folder, 's3'),
  configureBuckets: [{ name: 'pictures', configs: [] }],
})
const { port } = await bucket.run()
afterAll(() => bucket.close())

const s3Of = (user: string) => s3Files(`http://${user}@localhost:${port}/pictures?region=us-east-1`)
const places = { 'a folder': diskFiles(join(folder, 'disk')), 'an S3 store': s3Of('S3RVER:S3RVER') }

async function textAt(files: Files, path: string) {
  const file = await files.open(path)
  if (file === null) return null
  const text = Buffer.concat(await Array.fromAsync(file.bytes)).toString()
  expect(file.size).toBe(text.length)
  return text
}

test.each(Object.entries(places))(
  '%s keeps a file under its path until it is replaced or removed',
  async (_name, files) => {
    const path = '1/a_B-0123456789abcdefghi-160.webp'
    expect(await textAt(files, path)).toBe(null)
    await files.put(path, Buffer.from('one'))
    await files.put('2/other-160.webp', Buffer.from('other'))
    expect(await textAt(files, path)).toBe('one')
    await files.put(path, Buffer.from('second'))
    expect(await textAt(files, path)).toBe('second')
    await files.remove(path)
    await files.remove(path)
    expect(await textAt(files, path)).toBe(null)
    expect(await textAt(files, '2/other-160.webp')).toBe('other')
  },
)

test('a folder loses what a killed process has left of a file, but not what is being written', async () => {
  const files = places['a folder']
  await files.tidy()
  const parts = join(folder, 'disk', 'parts')
  for (const name of ['old', 'new']) writeFileSync(join(parts, name), 'half')
  const hoursAgo = Date.now() / 1_000 - 7_200
  utimesSync(join(parts, 'old'), hoursAgo, hoursAgo)
  await files.tidy()
  expect(readdirSync(parts)).toEqual(['new'])
})

test('a refusal of the S3 store says what was asked, and not with which keys', async () => {
  const failure = await s3Of('STRANGER:secret-of-mine')
    .put('1/x-160.webp', Buffer.from('x'))
    .catch((error) => error)
  expect(String(failure)).toMatch(/^Error: The S3 store answers PUT of 1\/x-160.webp with status 403$/)
})
